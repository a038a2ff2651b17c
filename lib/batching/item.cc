#include "batching/item.h"

#include "base/error.h"

namespace odb {

const char* describe(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::bad_record:
      return "bad record";
    case LeftOutReason::no_supervised_token:
      return "no supervised token";
    case LeftOutReason::crashed_worker:
      return "crashed worker";
  }
  throw InternalError("left-out reason {} has no name", static_cast<int>(reason));
}

}  // namespace odb
