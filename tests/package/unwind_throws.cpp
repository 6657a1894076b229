// A library of somebody else, which is loaded late and throws.
#include <stdexcept>
#include <string>

extern "C" int throws_inside(int n) {
    try {
        throw std::length_error(std::to_string(n));
    } catch (const std::logic_error &e) {
        return std::stoi(e.what());
    }
}
