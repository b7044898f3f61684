// What guard-shell is and which settings it has.
#include "../../guest-sdk/c/weir.h"

WEIR_DESCRIBE(R"json({
  "abi": 1,
  "name": "guard-shell",
  "version": "1.0.0",
  "description": "Reads shell commands as a shell would and blocks or asks about what destroys, leaks or takes over.",
  "hooks": {"tool_call": {"tools": ["bash"]}},
  "config": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "destructive": {"enum": ["block", "ask", "allow"], "default": "block"},
      "disk": {"enum": ["block", "ask", "allow"], "default": "block"},
      "git": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "privilege": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "remote_code": {"enum": ["block", "ask", "allow"], "default": "block"},
      "exfiltration": {"enum": ["block", "ask", "allow"], "default": "block"},
      "secrets": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "permissions": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "persistence": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "system": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "resource": {"enum": ["block", "ask", "allow"], "default": "block"},
      "containers": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "cloud": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "database": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "overwrite": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "guard": {"enum": ["block", "ask", "allow"], "default": "block"},
      "outward": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "dynamic": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "unparsable": {"enum": ["block", "ask", "allow"], "default": "ask"},
      "home": {"type": "string", "pattern": "^/", "description": "The home folder. Default: what the workspace's path suggests."},
      "disposable": {"type": "array", "items": {"type": "string", "minLength": 1},
        "description": "Names or *-patterns of further files and folders that may be deleted recursively."}
    }
  }
})json");
