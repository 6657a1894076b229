#include "options.h"

#include <sstream>
#include <utility>

namespace perf {

const char *const help_text = R"(hcperf: the workloads of libhomecooking, each against its floor and its peers

  --quick        small sizes and few rounds: all workloads together within 60 s
  --only IDS     some workloads, for instance --only W1,W3
  --json FILE    all rows as {"workload","case","system","metric","unit","value"}
  --svg DIR      one chart for each workload
  --words DIR    the folder whose text files W8 counts
  --java DIR     the compiled Java peers
  --go DIR       the compiled Go peers
  --fence DIR    the folder of a libhomecooking.so built with -Dbarrier=fence
  --help
)";

namespace {

std::vector<std::string> split_lower(const std::string &list) {
    std::vector<std::string> parts;
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, ',');) {
        for (char &c : part) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

}  // namespace

Options parse_options(int argc, char **argv, std::string &error) {
    Options o;
    const std::pair<const char *, bool *> switches[] = {
        {"--quick", &o.quick}, {"--help", &o.help}, {"--serve", &o.serve}};
    std::string only;
    const std::pair<const char *, std::string *> values[] = {
        {"--only", &only},   {"--json", &o.json}, {"--svg", &o.svg},    {"--words", &o.words},
        {"--java", &o.java}, {"--go", &o.go},     {"--fence", &o.fence}};
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        bool known = false;
        for (auto [name, flag] : switches)
            if (arg == name) known = *flag = true;
        for (auto [name, value] : values)
            if (arg == name) {
                known = true;
                if (++i < argc)
                    *value = argv[i];
                else
                    error = arg + " needs a value";
            }
        if (!known) error = "unknown option " + arg;
        if (!error.empty()) break;
    }
    o.only = split_lower(only);
    return o;
}

}  // namespace perf
