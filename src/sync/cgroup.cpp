#include "sync/cgroup.h"

#include <algorithm>

#include "sync/errno.h"
#include "sync/lines.h"
#include "sync/text.h"

namespace hc {
namespace {

// Of paths and of the lines that hold them. Real ones have a few hundred bytes; a caller's stack may have 16 KiB.
constexpr size_t kLongest = 2048;

bool lists(std::string_view list, std::string_view word) {
    while (!list.empty())
        if (take(&list, ',') == word) return true;
    return false;
}

class Path {
  public:
    const char *c_str() const { return text_; }
    size_t size() const { return size_; }

    void cut(size_t size) { text_[size_ = size] = 0; }
    bool append(std::string_view more) {
        if (more.size() >= sizeof text_ - size_) return false;
        cut(size_ + more.copy(text_ + size_, more.size()));
        return true;
    }
    // mountinfo writes blanks and backslashes as \040 and the like.
    bool assign_unescaped(std::string_view escaped) {
        cut(0);
        const auto octal = [&](size_t i) { return escaped[i] >= '0' && escaped[i] <= '7' ? escaped[i] - '0' : 64; };
        for (size_t i = 0; i < escaped.size(); i++) {
            char c = escaped[i];
            if (c == '\\' && i + 3 < escaped.size()) {
                const int code = octal(i + 1) * 64 + octal(i + 2) * 8 + octal(i + 3);
                if (code < 256) c = static_cast<char>(code), i += 3;
            }
            if (!append({&c, 1})) return false;
        }
        return true;
    }
    void parent() {
        const size_t slash = std::string_view(text_, size_).rfind('/');
        cut(slash == std::string_view::npos ? 0 : slash);
    }

  private:
    size_t size_ = 0;
    char text_[kLongest];
};

// The caller's cgroup in the hierarchy that has the cpu controller.
struct Own {
    bool v1 = false;
    Path path;
};

bool find_own(int root, Own *own) {
    Lines<kLongest> lines;
    // A threaded cgroup has only some threads of a process; workers inherit that of the thread that starts them.
    if (!lines.open(root, "/proc/thread-self/cgroup") && !lines.open(root, "/proc/self/cgroup")) return false;
    bool found = false;
    for (std::string_view line; !own->v1 && lines.next(&line);) {
        const std::string_view id = take(&line, ':'), controllers = take(&line, ':');
        own->v1 = lists(controllers, "cpu");
        // A controller is in one hierarchy only: v2, number 0, has it unless a v1 hierarchy is seen to have it.
        if (!own->v1 && id != "0") continue;
        own->path.cut(0);
        found = own->path.append(line);
    }
    return found;
}

struct Mount {
    std::string_view root, point, type, options;  // the first two escaped
};

// "36 35 0:31 /root /mount/point rw,noatime shared:1 master:2 - type source rw,options"
Mount parse_mount(std::string_view line) {
    Mount m;
    for (int i = 0; i < 3; i++) take(&line, ' ');
    m.root = take(&line, ' ');
    m.point = take(&line, ' ');
    while (!line.empty() && take(&line, ' ') != "-") continue;
    m.type = take(&line, ' ');
    take(&line, ' ');  // the source, which may be empty
    m.options = line;
    return m;
}

bool shows(const Mount &m, bool v1) {
    if (!m.point.starts_with('/')) return false;
    return v1 ? m.type == "cgroup" && lists(m.options, "cpu") : m.type == "cgroup2";
}

bool takes_component(std::string_view *path, std::string_view component) {
    if (!path->starts_with(component)) return false;
    if (path->size() > component.size() && (*path)[component.size()] != '/') return false;
    path->remove_prefix(component.size());
    return true;
}

// Makes *path, the caller's cgroup, relative to the root of a mount. False: the mount shows no ancestor of it.
// Both are as seen from the root of the cgroup namespace, which "/.." leads out of.
bool relative(std::string_view root, std::string_view *path) {
    if (!root.starts_with('/')) return false;
    if (root == "/") root = {};
    if (*path == "/") *path = {};
    while (takes_component(&root, "/.."))
        if (!takes_component(path, "/..")) {
            // Further out than the caller. Its root is an ancestor; those between have names that are not told.
            while (takes_component(&root, "/..")) continue;
            *path = {};
            return root.empty();
        }
    std::string_view beside = *path;
    return takes_component(path, root) && !takes_component(&beside, "/..");
}

uint32_t rounded_up(uint64_t quota, uint64_t period) {
    if (quota == 0 || period == 0) return kNoQuota;
    return static_cast<uint32_t>(std::min<uint64_t>(quota / period + (quota % period != 0), kNoQuota));
}

class Search {
  public:
    explicit Search(int root) : root_(root) {}

    uint32_t run() {
        if (!find_own(root_, &own_)) return kNoQuota;
        Lines<kLongest> mounts;
        if (!mounts.open(root_, "/proc/thread-self/mountinfo") && !mounts.open(root_, "/proc/self/mountinfo"))
            return kNoQuota;
        // Several may show the caller's hierarchy, each a part of it: whatever one of them says is true. One that shows
        // all of the namespace ends the search, for the kernel takes half a microsecond to write the line of a mount,
        // and there may be hundreds. But not if it is hidden behind another mount, and shows nothing.
        for (std::string_view line; mounts.next(&line);) {
            const Mount m = parse_mount(line);
            if (!shows(m, own_.v1)) continue;
            look_through(m);
            if (m.root == "/" && seen_) break;
        }
        return fewest_;
    }

  private:
    // The cgroup and its ancestors that `m` shows.
    void look_through(const Mount &m) {
        std::string_view below(own_.path.c_str(), own_.path.size());
        if (!path_.assign_unescaped(m.root) || !relative({path_.c_str(), path_.size()}, &below)) return;
        if (!path_.assign_unescaped(m.point)) return;
        const size_t top = path_.size();
        if (!path_.append(below)) return;
        for (;; path_.parent()) {
            fewest_ = std::min(fewest_, own_.v1 ? quota_v1() : quota_v2());
            if (path_.size() <= top) return;
        }
    }

    // Of the cgroup at path_. None is "max 100000", and max is no number.
    uint32_t quota_v2() {
        Lines<64> file;
        std::string_view line;
        uint64_t quota, period;
        if (!read("/cpu.max", &file, &line)) return kNoQuota;
        if (!parse(take(&line, ' '), &quota) || !parse(line, &period)) return kNoQuota;
        return rounded_up(quota, period);
    }

    // None is -1, which is no number without a sign.
    uint32_t quota_v1() {
        Lines<64> quota_file, period_file;
        std::string_view line;
        uint64_t quota, period;
        if (!read("/cpu.cfs_quota_us", &quota_file, &line) || !parse(line, &quota)) return kNoQuota;
        if (!read("/cpu.cfs_period_us", &period_file, &line) || !parse(line, &period)) return kNoQuota;
        return rounded_up(quota, period);
    }

    // The first line of a file of the cgroup at path_.
    bool read(std::string_view name, Lines<64> *file, std::string_view *line) {
        const size_t directory = path_.size();
        const bool there = path_.append(name) && file->open(root_, path_.c_str());
        path_.cut(directory);
        seen_ |= there;
        return there && file->next(line);
    }

    const int root_;
    Own own_;
    Path path_;
    uint32_t fewest_ = kNoQuota;
    bool seen_ = false;
};

}  // namespace

uint32_t quota_cpus(int root) {
    KeepErrno keep;
    return Search(root).run();
}

}  // namespace hc
