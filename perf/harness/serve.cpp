#include "serve.h"

#include <iostream>
#include <sstream>

#include "fail.h"

namespace perf {
namespace {

std::vector<const Service *> &registered() {
    static std::vector<const Service *> list;
    return list;
}

}  // namespace

Service::Service(const char *service_name, Sample (*service_answer)(const Words &arguments))
    : name(service_name), answer(service_answer) {
    registered().push_back(this);
}

void serve() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        std::string name;
        in >> name;
        Words arguments;
        for (std::string word; in >> word;) arguments.push_back(word);
        const Service *service = nullptr;
        for (const Service *s : registered())
            if (name == s->name) service = s;
        if (!service) fail("no service " + name);
        std::ostringstream out;
        for (double v : service->answer(arguments)) out << v << ' ';
        std::cout << out.str() << std::endl;
    }
}

}  // namespace perf
