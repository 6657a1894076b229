// The command line of hcperf. perf/run passes its own options on and adds those that say where peers were built.
#pragma once

#include <string>
#include <vector>

namespace perf {

struct Options {
    bool quick = false;
    bool help = false;
    bool serve = false;             // answer requests on stdin, see serve.h
    std::vector<std::string> only;  // workload ids, lower case; empty = all
    std::string json;               // file, empty = none
    std::string svg;                // folder, empty = none
    std::string words;              // folder of W8, empty = the installed documentation
    std::string java;               // folder of the compiled Java peers, empty = leave them out
    std::string go;                 // folder of the compiled Go peers, empty = leave them out
    std::string fence;              // folder of a libhomecooking.so built with -Dbarrier=fence, empty = leave it out
};

// A message for the user instead of options, when the command line is wrong: `error` is then not empty.
Options parse_options(int argc, char **argv, std::string &error);

extern const char *const help_text;

}  // namespace perf
