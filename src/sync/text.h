// Fields and numbers of a line of text, strictly: what is not all number is none. Free of locales and of exceptions.
#pragma once
#include <algorithm>
#include <charconv>
#include <string_view>
namespace hc {

// Takes a field, and the delimiter behind it, off the front of *text.
inline std::string_view take(std::string_view *text, char delimiter) {
    const std::string_view field(text->data(), std::min(text->find(delimiter), text->size()));
    text->remove_prefix(std::min(field.size() + 1, text->size()));
    return field;
}

// Digits only: no sign, no blanks.
template <class Unsigned>
bool parse(std::string_view text, Unsigned *number) {
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *number);
    return error == std::errc() && stop == end;
}

}  // namespace hc
