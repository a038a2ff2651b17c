// The version of this binary; the definitions are generated at build time.
#pragma once

namespace odb {
extern const char* const kVersion;  // "0.1.0"
extern const char* const
    kGitCommit;  // twelve digits, then "+changes" if the tree was not clean; or "unknown"
}  // namespace odb
