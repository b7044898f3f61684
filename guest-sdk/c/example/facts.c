#include "weir.h"

WEIR_DESCRIBE("{\"abi\":1,\"name\":\"no-push\",\"version\":\"1.0.0\",\"description\":\"Stops git push, however it is spelled.\","
              "\"hooks\":{\"tool_call\":{\"tools\":[\"bash\"],\"facts\":[\"shell\"]}}}");

WEIR_ON(tool_call) {
  weir_shell shell = weir_shell_facts(ev);
  if (!shell.known || !shell.understood) return weir_ask("Run a command that cannot be read?", NULL);
  for (weir_val e = weir_first(shell.commands); e; e = weir_next(shell.commands, e)) {
    weir_command c = weir_command_of(e);
    if (c.dynamic) return weir_ask("Run a command that is not known before it runs?", NULL);
    if (weir_eq(weir_program(&c), "git") && weir_eq(weir_word(&c, 1), "push")) return weir_block("push by hand, please");
  }
  return weir_allow();
}
