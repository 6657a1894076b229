// All memory of the library comes from here: the user's hooks, or posix_memalign.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
namespace hc::memory {

using Alloc = void *(*)(size_t size, size_t align, void *user);
using Free = void (*)(void *p, size_t size, size_t align, void *user);

bool set_hooks(Alloc alloc, Free free, void *user);  // false: too late
void freeze_hooks();                                 // from now on it is too late
void fork_child();                                   // the lock may be held by a thread that is not there

void *allocate(size_t size, size_t align) noexcept;  // nullptr: none left
void release(void *p, size_t size, size_t align) noexcept;

// nullptr when there is no memory, or when the constructor throws std::bad_alloc.
template <class T, class... Args>
T *make(Args &&...args) noexcept {
    void *p = allocate(sizeof(T), alignof(T));
    if (p == nullptr) return nullptr;
    try {
        return new (p) T(std::forward<Args>(args)...);
    } catch (const std::bad_alloc &) {
        release(p, sizeof(T), alignof(T));
        return nullptr;
    }
}

template <class T>
void destroy(T *p) noexcept {
    if (p == nullptr) return;
    p->~T();
    release(p, sizeof(T), alignof(T));
}

// Of plain things, value-initialised. nullptr: no memory.
template <class T>
T *make_array(size_t n) noexcept {
    if (n > SIZE_MAX / sizeof(T)) return nullptr;
    auto *p = static_cast<T *>(allocate(sizeof(T) * n, alignof(T)));
    for (size_t i = 0; p != nullptr && i < n; i++) new (p + i) T();
    return p;
}
template <class T>
void destroy_array(T *p, size_t n) noexcept {
    if (p != nullptr) release(p, sizeof(T) * n, alignof(T));
}

// The same for the containers of the standard library and of Boost.
template <class T>
struct Allocator {
    using value_type = T;
    Allocator() = default;
    template <class U>
    Allocator(const Allocator<U> &) {}
    T *allocate(size_t n) {
        void *p = memory::allocate(n * sizeof(T), alignof(T));
        if (p == nullptr) throw std::bad_alloc();
        return static_cast<T *>(p);
    }
    void deallocate(T *p, size_t n) { memory::release(p, n * sizeof(T), alignof(T)); }
    friend bool operator==(const Allocator &, const Allocator &) { return true; }
};

}  // namespace hc::memory
