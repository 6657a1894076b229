#include "observe/page.h"

#include <cstdio>

namespace hc {

bool Page::flush() {
    if (n_ != 0 && !stopped_) stopped_ = write_(user_, text_, n_) != 0;
    n_ = 0;
    return !stopped_;
}

void Page::put(char c) {
    if (n_ == sizeof text_) flush();
    text_[n_++] = c;
}

void Page::add(const char *text) {
    while (*text != 0) put(*text++);
}

void Page::quoted(const char *text) {
    if (text == nullptr) return add("null");
    put('"');
    for (; *text != 0; text++) {
        const auto c = static_cast<unsigned char>(*text);
        if (c == '"' || c == '\\') put('\\');
        if (c >= 0x20 && c != 0x7f)
            put(*text);
        else
            print("\\u%04x", c);
    }
    put('"');
}

void Page::print(const char *format, ...) {
    char piece[256];
    va_list list;
    va_start(list, format);
    vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    add(piece);
}

}  // namespace hc
