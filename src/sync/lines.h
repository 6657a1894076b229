// The lines of a text file of /proc or /sys, in a buffer that is part of the object: nothing is allocated, and a line
// that does not fit is left out, not the ones after it.
#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
namespace hc {

// In place of the descriptor of a directory that stands in for the root.
constexpr int kRealRoot = AT_FDCWD;

template <size_t kLongest>
class Lines {
  public:
    Lines() = default;
    ~Lines() {
        if (fd_ >= 0) call(SYS_close, fd_);
    }
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;

    // Once; again only after it has failed. Sets errno.
    bool open(int root, const char *absolute) {
        const char *path = root == kRealRoot ? absolute : absolute + 1;
        do {
            fd_ = static_cast<int>(call(SYS_openat, root, path, O_RDONLY | O_CLOEXEC));
        } while (fd_ < 0 && errno == EINTR);
        return fd_ >= 0;
    }

    // False: there are no more. *line lacks its newline and is valid until the next call.
    bool next(std::string_view *line) {
        for (bool too_long = false;;) {
            const std::string_view unread(buffer_ + begin_, end_ - begin_);
            if (const size_t length = unread.find('\n'); length != unread.npos) {
                begin_ += length + 1;
                if (!std::exchange(too_long, false)) return *line = unread.substr(0, length), true;
                continue;
            }
            if (unread.size() == kLongest) {
                too_long = true;
                begin_ = end_ = 0;
            } else if (begin_ > 0) {
                memmove(buffer_, unread.data(), unread.size());
                begin_ = 0;
                end_ = unread.size();
            }
            const long n = fill();
            if (n > 0) continue;
            begin_ = end_ = 0;
            // The last line may lack a newline; after an error, the rest of it may be what is lacking.
            if (n < 0 || too_long || unread.empty()) return false;
            return *line = std::string_view(buffer_, unread.size()), true;
        }
    }

  private:
    // open, read and close are cancellation points: a caller that is cancelled there would keep the file.
    template <class... Args>
    static long call(long number, Args... args) {
        return syscall(number, args...);
    }

    long fill() {
        long n;
        do {
            n = call(SYS_read, fd_, buffer_ + end_, kLongest - end_);
        } while (n < 0 && errno == EINTR);  // /proc may be a FUSE file system in a container
        if (n > 0) end_ += static_cast<size_t>(n);
        return n;
    }

    int fd_ = -1;
    size_t begin_ = 0, end_ = 0;
    char buffer_[kLongest];
};

}  // namespace hc
