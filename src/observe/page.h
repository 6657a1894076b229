// Text that is written piece by piece to a callback, in few pieces.
#pragma once
#include <cstdarg>
#include <cstddef>
namespace hc {

class Page {
  public:
    using Write = int (*)(void *user, const char *text, size_t n);
    Page(Write write, void *user) : write_(write), user_(user) {}
    void add(const char *text);
    void quoted(const char *text);  // as a string of JSON; nullptr: null
    __attribute__((format(printf, 2, 3))) void print(const char *format, ...);
    bool flush();  // false: somebody said stop

  private:
    void put(char c);
    Write write_;
    void *user_;
    bool stopped_ = false;
    size_t n_ = 0;
    char text_[4096];
};

}  // namespace hc
