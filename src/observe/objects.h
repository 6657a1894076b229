// The program and the libraries that are loaded, at one moment: where each lies, and where its table for unwinding is.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>
namespace hc {

struct Object {
    uintptr_t low, high;  // its addresses; high is the first that is not
    uintptr_t header;     // .eh_frame_hdr; 0: none that we could read
    uintptr_t table;      // the sorted part of it: pairs of 32-bit offsets from `header`
    size_t entries;
};

// dl_iterate_phdr(3), but for one thing: a child that was forked while a thread of its parent was in there would wait
// for that thread. If it was one of ours, the child finds no objects. (A host's own threads make that danger for the
// child, with us or without.)
int each_object(int (*look)(dl_phdr_info *, size_t, void *), void *arg);
void each_object_fork_child();

class Objects {
  public:
    // The loader's list, under the lock by which C++ finds who catches an exception; not the one that is held while a
    // library initialises itself, which may take for ever.
    bool load();                                // false: it cannot be had
    const Object *at(uintptr_t address) const;  // nullptr: it belongs to none

  private:
    static constexpr size_t kMost = 1024;  // those that were loaded later are not seen
    static int add(dl_phdr_info *info, size_t size, void *self);
    Object objects_[kMost];
    size_t count_ = 0;
};

}  // namespace hc
