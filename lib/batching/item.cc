#include "batching/item.h"

#include "base/error.h"

namespace odb {

const char* name(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::none:
      return "";
    case LeftOutReason::bad_record:
      return "bad record";
    case LeftOutReason::no_supervised_token:
      return "no supervised token";
    case LeftOutReason::crashed_worker:
      return "crashed worker";
    case LeftOutReason::empty:
      return "empty";
    case LeftOutReason::cut_away:
      return "answers behind the cutoff length";
  }
  throw InternalError("left-out reason {} has no name", static_cast<int>(reason));
}

}  // namespace odb
