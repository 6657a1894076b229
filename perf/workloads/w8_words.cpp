// W8, the example of the fork/join article: count the words of all text files under a folder (default: the
// documentation installed on the machine, --quick 8 MB of it). Map: a task for each file counts into the count of its
// worker. Merge: a task for each of 16 parts adds up that part of all workers. The result must equal the sequential
// one. The median of 5 rounds (--quick 3), all systems in turn; files come from the page cache, which the first round
// fills.
//
//     floor   the sequential count, divided by min(workers, cores)
//     hc      hc_submit() for each file, hc_group_drain(); the same for the parts. hc_worker_index() finds the count.
//     omp     parallel for, schedule(dynamic), both times
//     async   std::async, one for each worker, that share an index into the files; the same for the parts
#include <atomic>
#include <cmath>
#include <functional>
#include <future>

#include "../harness/counters.h"
#include "../harness/rounds.h"
#include "../harness/workload.h"
#include "../peers/hc.h"
#include "contention.h"
#include "words.h"
#ifdef _OPENMP
#include <omp.h>
#endif

namespace perf {
namespace {

using Files = std::vector<TextFile>;

WordCount sequential(const Files &files) {
    WordCount count;
    for (const TextFile &file : files) count_words(file.path, count);
    return count;
}

struct HcWords {
    Hc pool;
    explicit HcWords(unsigned workers) : pool(workers) {}

    WordCount operator()(const Files &files) {
        struct Job {
            const TextFile *file;
            std::vector<WordCount> *counts;
        };
        struct Part {
            size_t index;
            std::vector<WordCount> *counts;
            WordCount *sum;
        };
        std::vector<WordCount> counts(hc_group_slots(pool.group()));
        std::vector<Job> jobs;
        for (const TextFile &file : files) jobs.push_back({&file, &counts});
        for (Job &job : jobs)
            pool.submit(
                [](void *arg) {
                    auto &[file, all] = *static_cast<Job *>(arg);
                    count_words(file->path, (*all)[static_cast<size_t>(hc_worker_index())]);
                },
                &job);
        hc_group_drain(pool.group(), HC_NEVER);

        WordCount sum;
        std::vector<Part> parts;
        for (size_t p = 0; p < WordCount::parts; ++p) parts.push_back({p, &counts, &sum});
        for (Part &part : parts)
            pool.submit(
                [](void *arg) {
                    auto &[index, all, into] = *static_cast<Part *>(arg);
                    merge_part(*all, index, *into);
                },
                &part);
        hc_group_drain(pool.group(), HC_NEVER);
        return sum;
    }
};

#ifdef _OPENMP
WordCount with_openmp(const Files &files, unsigned workers) {
    std::vector<WordCount> counts(workers);
#pragma omp parallel for schedule(dynamic) num_threads(workers)
    for (size_t i = 0; i < files.size(); ++i)
        count_words(files[i].path, counts[static_cast<size_t>(omp_get_thread_num())]);
    WordCount sum;
#pragma omp parallel for schedule(dynamic) num_threads(workers)
    for (size_t p = 0; p < WordCount::parts; ++p) merge_part(counts, p, sum);
    return sum;
}
#endif

WordCount with_async(const Files &files, unsigned workers) {
    auto on_all = [workers](size_t n, auto body) {  // body(worker, i) for each i < n
        std::atomic<size_t> next{0};
        std::vector<std::future<void>> futures;
        for (unsigned w = 0; w < workers; ++w)
            futures.push_back(std::async(std::launch::async, [&, w] {
                for (size_t i; (i = next.fetch_add(1)) < n;) body(w, i);
            }));
        for (auto &f : futures) f.get();
    };
    std::vector<WordCount> counts(workers);
    on_all(files.size(), [&](unsigned w, size_t i) { count_words(files[i].path, counts[w]); });
    WordCount sum;
    on_all(WordCount::parts, [&](unsigned, size_t p) { merge_part(counts, p, sum); });
    return sum;
}

// Wall ms and CPU s of one count, its result checked outside of the time.
Entrant entrant(std::string system, const WordCount &expected, std::function<WordCount()> count) {
    return {system, [=, &expected] {
                uint64_t cpu = process_cpu_ns(), begin = now_ns();
                WordCount result = count();
                uint64_t end = now_ns();
                cpu = process_cpu_ns() - cpu;
                if (!(result == expected)) fail("words: " + system + " counts other words than the sequential program");
                return Sample{ms(begin, end), static_cast<double>(cpu) * 1e-9};
            }};
}

void with_workers(const Options &o, Sheet &sheet, const Files &files, const WordCount &expected, unsigned workers) {
    const std::string kase = std::to_string(workers) + " workers";
    auto ours = std::make_shared<HcWords>(workers);
    std::vector<Entrant> entrants{entrant("sequential", expected, [&] { return sequential(files); }),
                                  entrant("hc", expected, [&, ours] { return (*ours)(files); })};
#ifdef _OPENMP
    entrants.push_back(entrant("omp", expected, [&] { return with_openmp(files, workers); }));
#endif
    entrants.push_back(entrant("async", expected, [&] { return with_async(files, workers); }));
    interleave(entrants, Pace{o.quick ? 3u : 5u});
    double floor = median(entrants[0].column(0)) / std::min(workers, usable_cpus());
    sheet.add(kase, "floor", "wall", "ms", floor);
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "wall", "ms", median(e.column(0)));
        sheet.add(kase, e.system, "cpu", "s", median(e.column(1)));
    }
    add_contention(sheet, kase, "hc", ours->pool.stats());
    sheet.at_least("hc speed-up, in that of the floor, " + kase, floor / sheet.value(kase, "hc", "wall"), 0.95);
}

void run(const Options &o, Sheet &sheet) {
    const uint64_t most = o.quick ? 8'000'000 : 1'000'000'000;
    std::string folder = o.words.empty() ? "/usr/share/doc" : o.words;
    Files files = text_files(folder, most);
    if (o.words.empty() && files.size() < 100)  // an image without documentation
        files = text_files(folder = "/usr/include", most);
    if (files.empty()) {
        sheet.note("no text files under " + folder);
        return;
    }
    double bytes = 0;
    for (const TextFile &file : files) bytes += static_cast<double>(file.bytes);
    WordCount expected = sequential(files);  // and fills the page cache
    char text[160];
    std::snprintf(text, sizeof text, "%zu text files under %s, %.1f MB, %zu different words", files.size(),
                  folder.c_str(), bytes * 1e-6, expected.distinct());
    sheet.note(text);
    for (unsigned workers : {2u, 8u, 64u}) with_workers(o, sheet, files, expected, workers);
    sheet.add_ratios("wall", "floor");
}

const Workload w8("W8", "words: word counts of a folder of text", run);

}  // namespace
}  // namespace perf
