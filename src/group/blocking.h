// Tasks that block, and say so.
#pragma once
namespace hc {

bool blocking_begin();  // of the calling thread. True: another worker may work meanwhile
void blocking_end();

class Blocking {
  public:
    Blocking() { blocking_begin(); }
    ~Blocking() { blocking_end(); }
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;
};

}  // namespace hc
