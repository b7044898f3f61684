#include "weir.h"

WEIR_DESCRIBE("{\"abi\":1,\"name\":\"no-push\",\"version\":\"1.0.0\",\"description\":\"Stops git push.\","
              "\"hooks\":{\"tool_call\":{\"tools\":[\"bash\"]}}}");

WEIR_ON(tool_call) {
  weir_str command = weir_get_string(weir_get(ev, "input"), "command");
  if (weir_contains(command, "git push")) return weir_block("push by hand, please");
  return weir_allow();
}
