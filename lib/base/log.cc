#include "base/log.h"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include "base/error.h"

namespace odb {
namespace {

using spdlog::level::level_enum;

// " warning:" for every level but info, in the level's color range.
class LevelFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    if (message.level == level_enum::info) return;
    message.color_range_start = out.size();
    const spdlog::string_view_t name = spdlog::level::to_string_view(message.level);
    out.append(name.data(), name.data() + name.size());
    message.color_range_end = out.size();
    out.append(std::string_view(": "));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelFlag>();
  }
};

// The sink of all loggers: forwards to the current sink. A logger's own sinks must not change while
// another thread may log; this target may.
class CurrentSink final : public spdlog::sinks::sink {
 public:
  explicit CurrentSink(std::shared_ptr<spdlog::sinks::sink> first) : sink_(std::move(first)) {}

  // Once this returns, the previous sink gets no more lines.
  void set(std::shared_ptr<spdlog::sinks::sink> next) {
    const std::lock_guard lock(mutex_);
    sink_ = std::move(next);
  }
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock(mutex_);
    sink_->log(message);
  }
  void flush() override {
    const std::lock_guard lock(mutex_);
    sink_->flush();
  }
  void set_pattern(const std::string& pattern) override {
    const std::lock_guard lock(mutex_);
    sink_->set_pattern(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const std::lock_guard lock(mutex_);
    sink_->set_formatter(std::move(formatter));
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<spdlog::sinks::sink> sink_;
};

std::unique_ptr<spdlog::formatter> make_formatter(const LogOptions& options) {
  std::string who;
  if (options.rank >= 0) who += fmt::format("rank {} ", options.rank);
  if (!options.role.empty()) who += options.role + " ";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelFlag>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e " + who + "[%n] %*%v");
  return formatter;
}

// The process's log: the sink, the line shape and the loggers by area. The one global beside the
// stop flag.
struct LogState {
  std::mutex mutex;
  LogOptions options;
  std::map<std::string, level_enum> levels{{"", level_enum::info}};
  std::shared_ptr<CurrentSink> sink = std::make_shared<CurrentSink>(standard_error_sink());
  std::unordered_map<std::string, std::shared_ptr<spdlog::logger>> loggers;

  LogState() { sink->set_formatter(make_formatter(options)); }

  level_enum level_of(const std::string& area) const {
    const auto found = levels.find(area);
    return found != levels.end() ? found->second : levels.at("");
  }
};

LogState& state() {
  static LogState* const kept =
      new LogState;  // never destroyed: threads may log until the process ends
  return *kept;
}

level_enum parse_level(std::string_view name, std::string_view whole) {
  const level_enum level = spdlog::level::from_str(std::string(name));
  if (level == level_enum::off && name != "off")
    throw UsageError(
        "log levels {}: unknown level '{}'; known: trace, debug, info, warning, error, critical, "
        "off",
        whole, name);
  return level;
}

}  // namespace

std::shared_ptr<spdlog::sinks::sink> standard_error_sink() {
  const char* no_color = std::getenv("NO_COLOR");
  return std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
      no_color != nullptr && *no_color != '\0' ? spdlog::color_mode::never
                                               : spdlog::color_mode::automatic);
}

std::map<std::string, level_enum> parse_log_levels(std::string_view levels) {
  std::map<std::string, level_enum> result{{"", level_enum::info}};
  for (std::string_view rest = levels; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t equals = part.find('=');
    const std::string area(equals == std::string_view::npos ? std::string_view()
                                                            : part.substr(0, equals));
    result[area] =
        parse_level(equals == std::string_view::npos ? part : part.substr(equals + 1), levels);
  }
  return result;
}

void start_log(const LogOptions& options) {
  auto levels = parse_log_levels(options.levels);
  LogState& log_state = state();
  const std::lock_guard lock(log_state.mutex);
  log_state.options = options;
  log_state.levels = std::move(levels);
  log_state.sink->set_formatter(make_formatter(options));
  for (auto& [area, logger] : log_state.loggers)
    logger->set_level(log_state.level_of(area));
}

void set_log_role(const std::string& role) {
  LogState& log_state = state();
  const std::lock_guard lock(log_state.mutex);
  log_state.options.role = role;
  log_state.sink->set_formatter(make_formatter(log_state.options));
}

spdlog::logger& log(std::string_view area) {
  LogState& log_state = state();
  const std::lock_guard lock(log_state.mutex);
  std::shared_ptr<spdlog::logger>& logger = log_state.loggers[std::string(area)];
  if (!logger) {
    logger = std::make_shared<spdlog::logger>(std::string(area), log_state.sink);
    logger->set_level(log_state.level_of(std::string(area)));
    logger->flush_on(level_enum::trace);
  }
  return *logger;
}

void set_log_sink(std::shared_ptr<spdlog::sinks::sink> sink) {
  LogState& log_state = state();
  const std::lock_guard lock(log_state.mutex);
  sink->set_formatter(make_formatter(log_state.options));
  log_state.sink->set(std::move(sink));
}

}  // namespace odb
