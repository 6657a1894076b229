#include "json.h"

#include <cmath>
#include <cstdio>

#include "fail.h"

namespace perf {
namespace {

std::string quoted(const std::string &s) {
    std::string out = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

}  // namespace

void write_json(const std::string &path, const std::vector<Sheet> &sheets) {
    FILE *file = std::fopen(path.c_str(), "w");
    if (!file) fail("cannot write " + path);
    std::fputs("[", file);
    const char *separator = "\n";
    for (const Sheet &sheet : sheets)
        for (const Row &r : sheet.rows) {
            if (!std::isfinite(r.value))  // JSON has no NaN
                continue;
            std::fprintf(file, "%s{\"workload\":%s,\"case\":%s,\"system\":%s,\"metric\":%s,\"unit\":%s,\"value\":%.9g}",
                         separator, quoted(sheet.id).c_str(), quoted(r.kase).c_str(), quoted(r.system).c_str(),
                         quoted(r.metric).c_str(), quoted(r.unit).c_str(), r.value);
            separator = ",\n";
        }
    std::fputs("\n]\n", file);
    if (std::fclose(file) != 0) fail("cannot write " + path);
}

}  // namespace perf
