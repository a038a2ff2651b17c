// The binary as a user runs it, through the shell: its exit code and its two streams.
#pragma once

#include <string>

struct Outcome {
  int code = -1;
  std::string output;  // standard output
  std::string errors;  // standard error
};

// Runs odb-trainer; `arguments` are quoted as the shell expects. With an `output_path` standard
// output goes there and is not read back; `environment` are variables to set, "A=b C=d". Waits for
// the end. Fails the test when it was killed.
Outcome odb_trainer(const std::string& arguments, const std::string& output_path = "",
                    const std::string& environment = "");

// The same with a standard output whose reader has left before the first byte, as in `| head` a
// little later. `before`: what stands before the command, such as "yes |".
Outcome odb_trainer_unread(const std::string& arguments, const std::string& before = "");
