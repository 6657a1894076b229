#!/usr/bin/env python3
"""Weakens the core, one place at a time, and demands that a model notices.

A mutant is one source file with one order weakened, or one fence, wake, lock or second look removed. The models that cover
the file are compiled against it and run; the first to fail kills it. A mutant that no model kills, and that equivalents.txt
does not explain, fails this program: either the model is too weak, or the order stronger than needed.

    mutants.py                 all of them
    mutants.py --only batch.h  those of the files whose name contains this
    mutants.py --quick         one for each file and kind
    mutants.py --list          no compiling: only say which there are
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE.parent.parent / 'src'

# Which models look at a file, the likeliest to notice first.
MODELS = {
    'sync/parker.h': ['parker'],
    'sync/event.h': ['event', 'closing'],
    'sync/lock.h': ['lock', 'timers', 'timers_end'],
    'queue/recycler.h': ['recycler'],
    'queue/made.h': ['expiry'],
    'queue/backlog.h': ['line'],
    'queue/ring.h': ['lane', 'closing'],
    'queue/lane.h': ['lane', 'closing', 'sleep'],
    'queue/batch.h': ['batch', 'sleep', 'closing'],
    'queue/listing.h': ['listing', 'sleep'],
    'queue/directory.h': ['listing', 'sleep', 'closing'],
    'queue/frame.h': ['forks', 'deque'],
    'queue/deque.h': ['deque', 'forks'],
    'task/task.h': ['task', 'expiry'],
    'task/home.h': ['task', 'expiry'],
    'task/ticket.h': ['ticket', 'expiry', 'closing'],
    'timer/pending.h': ['timer_life', 'timers', 'timers_end'],
    'timer/timer.h': ['timer_life', 'timers', 'timers_end'],
    'timer/wheel.h': ['timers', 'timers_end', 'timer_life'],
    'group/gate.h': ['beds', 'roster', 'roster_ends', 'roster_leaves', 'sleep', 'closing', 'timers', 'timers_end'],
    'group/sleep.cpp': ['roster', 'roster_leaves', 'roster_ends', 'stuck', 'sleep', 'closing', 'forks', 'timers', 'timers_end', 'line'],
    'group/find.cpp': ['sleep', 'closing', 'forks', 'timers', 'timers_end', 'line'],
    'group/levels.h': ['sleep', 'closing'],
    'group/watch.h': ['timers', 'timers_end'],
    'group/timers.h': ['timers', 'timers_end', 'timer_life'],
    'group/timers.cpp': ['timers', 'timers_end', 'timer_life', 'room'],
    'group/timer_life.h': ['timer_life', 'timers', 'timers_end'],
    'group/timer_life.cpp': ['timer_life', 'timers', 'timers_end'],
    'group/timer_calls.cpp': ['timer_life', 'timers', 'timers_end', 'room'],
    'group/timer_run.cpp': ['timer_life', 'timers', 'timers_end'],
    'group/roster.h': ['roster', 'roster_ends', 'roster_leaves', 'stuck', 'life', 'closing', 'room'],
    'group/roster.cpp': ['roster', 'roster_ends', 'roster_leaves', 'stuck', 'life', 'closing', 'room'],
    'group/sentinel.h': ['stuck', 'roster_leaves'],
    'group/stuck.cpp': ['stuck', 'roster_leaves'],
    'group/blocking.cpp': ['roster', 'waitlist'],
    'group/waitlist.h': ['waitlist'],
    'group/overload.cpp': ['waitlist', 'closing'],
    'group/worker.cpp': ['roster', 'roster_ends', 'stuck', 'sleep', 'closing', 'timers', 'timers_end', 'forks', 'line'],
    'group/worker.h': ['closing', 'sleep'],
    'group/submit.h': ['sleep', 'closing'],
    'group/submit.cpp': ['sleep', 'closing', 'task', 'roster', 'roster_leaves', 'line', 'room'],
    'group/closing.cpp': ['closing', 'life', 'timers', 'timers_end', 'roster', 'roster_ends', 'roster_leaves', 'waitlist', 'room'],
    'group/group.h': ['roster', 'roster_ends', 'roster_leaves', 'stuck', 'timers', 'timers_end', 'closing', 'life', 'forks', 'task', 'room'],
    'group/group.cpp': ['roster', 'roster_ends', 'roster_leaves', 'stuck', 'closing', 'life', 'forks', 'task', 'waitlist', 'timers', 'timers_end', 'line', 'room'],
    'group/forks.cpp': ['forks'],
    'group/line.cpp': ['line', 'room'],
    'group/line.h': ['line'],
    'group/keys.cpp': ['line'],
    'group/keys.h': ['line'],
    'group/kept.h': ['line'],
    'group/tasks.cpp': ['task'],
    'group/continuations.cpp': ['task'],
    'group/wait.cpp': ['task'],
    'group/scope.h': ['task', 'scope'],
    'group/scope.cpp': ['scope', 'task', 'expiry'],
    'group/deadline.h': ['limits'],
    'group/limits.cpp': ['limits'],
    'group/expiry.h': ['expiry'],
    'group/expiry.cpp': ['expiry'],
    'group/tickets.cpp': ['expiry', 'closing'],
    'group/registry.cpp': ['closing', 'life'],
    'observe/desk.h': ['desk'],
}
# What the models have of their own instead, what has nothing to weaken but statistics, and what is the kernel's and the loader's: a
# signal's number, libunwind's functions, both published once; who asks for stacks (one at a time, through observe/desk.h); and what a
# process has one of, with a lock that lives longer than an iteration.
NOT_MODELLED = ['sync/atomic.h', 'sync/fence.h', 'sync/fence.cpp', 'sync/mutex.h', 'memory/hooks.cpp', 'observe/stats.cpp',
                'sync/signal.cpp', 'observe/objects.cpp', 'observe/unwind.cpp', 'observe/stack.cpp', 'observe/look.cpp', 'group/sentinel.cpp', 'group/reaper.cpp',
                'group/sleepers.cpp']

WEAKER = {'acquire': ['relaxed'], 'release': ['relaxed'], 'acq_rel': ['acquire', 'release'], 'seq_cst': ['acq_rel']}

# Calls that disappear wherever they are made. The value is what stands for their result.
CALLS = {
    'wake': {name: 'false' for name in ('unpark', 'futex_wake', 'wake_one', 'wake_all', 'wake', 'wake_for', 'after_publish',
                                        'wake_in_bed', 'found_work', 'signal', 'went_idle', 'wake_watches', 'ring', 'armed', 'timer_gone',
                                        'bring', 'send_away', 'given', 'deal', 'look_for_more', 'let_end', 'list',
                                        'look_after', 'owe', 'tell_of_line')},
    'look': {'relist': 'false', 'work_left': '0', 'left': '0', 'nothing_left': 'true', 'reap_batches': 'false',
             'reap_lanes': 'false', 'uncount_late': '0', 'more': '0', 'missed': 'false', 'uncovered': 'false',
             'covers': 'true', 'has_room': 'false', 'keeping': 'false', 'all_gone': 'true', 'reap_timers': 'false',
             'come_back': 'false', 'come': 'false', 'did_not_come': 'void()', 'step_back': 'false', 'take_places': '0',
             'add_places': 'void()', 'less_surplus': '0', 'first_worker': 'true', 'too_few': 'false',
             'winding_up': 'false', 'arrived': 'void()', 'too_many': 'false'},
}
# Where they do not return what can be had from that: file, call, instead.
INSTEAD = [('group/gate.h', r'^(wake_one|after_publish)\b', 'Wake::kNobody'), ('', r'^gate\.(wake_one|after_publish)\b', 'Gate::Wake::kNobody'),
           ('group/roster.cpp', r'^add_places\(1\)', '1u')]

# The rest, by hand: file, kind, pattern, replacement; every occurrence is a mutant.
BY_HAND = [
    ('queue/deque.h', 'look', r'if \(now < want\) want = [^;]*;', ''),
    ('queue/deque.h', 'look', r'prefix\.split\.store\(want, memory_order_relaxed\);', ''),
    ('queue/deque.h', 'look', r'tail_\.store\(at, memory_order_relaxed\);', ''),
    ('queue/deque.h', 'look', r'l->mark == mark', 'true'),
    ('queue/deque.h', 'look', r'lower\(\);\n        divert\(\);', 'lower();'),
    ('group/forks.cpp', 'look', r'd\.divert\(\);', ''),
    ('group/forks.cpp', 'look', r'help\(mine, f, true\)', 'false'),
    ('group/sleep.cpp', 'look', r'group_\.end_watch\(\);', ''),
    ('group/line.cpp', 'look', r'if \(g->closed\(\)\) return (Submit::kClosed;(?=\n        Line)|false;)', ''),
    ('group/line.cpp', 'look', r'g->closed\(\) \|\| (?=!push_line)', ''),
    ('queue/backlog.h', 'look', r'if \(in_blocks_ != 0\) (?=block_ = )', ''),
    ('queue/backlog.h', 'look', r'if \(in_blocks_ == 0\) return tail_\[at_\+\+\];', 'if (block_ == nullptr) return tail_[at_++];'),
    ('queue/backlog.h', 'look', r' - l\.held_(?=;)', ''),
    ('group/closing.cpp', 'look', r'made->close\(\);', ''),
    ('group/find.cpp', 'look', r'find_kept_by_others\(\)(?=;)', 'false'),
    ('group/sleep.cpp', 'look', r'group_\.lines_are_kept\(\)(?= && group_\.begin)', 'false'),
    ('group/wait.cpp', 'look', r'!what\.help\(true\)', 'true'),
    ('group/sleep.cpp', 'look', r'group_\.divert_forks\(\)', 'group_.deques() != nullptr'),
    ('group/sleep.cpp', 'look', r' \|\| interrupted_(?=;)', ''),
    ('group/sleep.cpp', 'look', r' \|\| \(paused && !gate\.paused\(\)\)', ''),
    ('task/task.h', 'look', r'if \(n == 0\) return false;', ';'),
    ('queue/made.h', 'look', r'if \(walked_\) return 0;', ''),
    ('group/expiry.cpp', 'look', r'if \(s != nullptr\) s->ref\(\);', 's = nullptr;'),
    ('group/expiry.cpp', 'look', r'next = std::min\(next, t->queued_until\(\)\);', ''),
    ('group/expiry.cpp', 'look', r't->claim\(seen\)', 't->claim(Task::kQueued)'),
    ('group/expiry.cpp', 'look', r't->try_ref\(\)', '(t->ref(), true)'),
    ('group/expiry.cpp', 'wake', r'lower\(g, std::max[^;]*;', ';'),
    ('group/expiry.h', 'wake', r'lower\(g, expires_at\);', ';'),
    ('group/limits.cpp', 'wake', r'sentinel_ring\(\)', 'true'),
    ('group/limits.cpp', 'wake', r'(?<=[ ;])lower(?:ed)?\((?:next|time_|kStopped)\);', ';'),
    ('group/limits.cpp', 'wake', r'wake_sleepers\(&x\);', ';'),
    ('group/limits.cpp', 'look', r'next = kStopped;', ';'),
    ('group/limits.cpp', 'look', r'next = std::min<uint64_t>\(next, x\.again\);', ''),
    ('group/limits.cpp', 'look', r'\|\| stopped\(x\)', ''),
    ('group/limits.cpp', 'look', r'shut\(self_->deadlines, \*?x\);', ''),
    ('group/limits.cpp', 'look', r'Deadline::busy\(at\) \|\|\s+', ''),
    ('group/limits.cpp', 'look', r't->stop\(\);', ''),
    ('group/limits.cpp', 'look', r'if \(take_signal[^;]*;', ';'),
    ('task/task.h', 'look', r'if \(\(seen & kStates\) == kEnded\) return !ended\(\);', ';'),
    ('group/scope.cpp', 'wake', r'if \(waiters_ != nullptr\) wake_waiters\(\);', ''),
    ('group/scope.cpp', 'wake', r'if \(idle\(\)\) wake_waiters\(\);', ''),
    ('sync/parker.h', 'look', r'while \(word_\.load\(memory_order_relaxed\) == kParked\)', 'while (false)'),
    ('queue/lane.h', 'look', r'if \(most > there\) most = there;', ''),
    ('queue/batch.h', 'look', r'&& !settle\(k\)', ''),
    ('queue/batch.h', 'look', r'&& !settle\(k\)', '&& true'),
    ('queue/batch.h', 'look', r'if \(k < limit_\.load\(memory_order_relaxed\)\) return true;', ''),
    ('queue/batch.h', 'look', r'limit_\.store\(base_, memory_order_relaxed\);', ''),
    ('queue/batch.h', 'look', r'limit_\.store\(keep, memory_order_relaxed\);', 'limit_.store(limit, memory_order_relaxed);'),
    ('queue/batch.h', 'look', r'cursor_\.store\(k, memory_order_relaxed\);', ''),
    ('queue/listing.h', 'look', r'shelf->listed\.fetch_or\([^;]*;', ''),
    ('queue/listing.h', 'look', r'hall->listed\.fetch_or\([^;]*;', ''),
    ('queue/directory.h', 'look', r'if \(shelf->listed\.load\(memory_order_relaxed\) != 0\)', 'if (false)'),
    ('queue/directory.h', 'look', r'if \(lane_at\(shelf, l\)->empty\(\)\) continue;', 'continue;'),
    ('group/gate.h', 'look', r'while \(in_bed\(i\)\) \{', 'if (in_bed(i)) for (int once = 1; once--;) {'),
    ('group/gate.h', 'look', r'\} while \(in_bed\(i\)\);', '} while (false);'),
    ('group/gate.h', 'look', r'&& places\(word\) == 0(?=\))', ''),
    ('group/gate.h', 'wake', r'(?<=== 0 \|\| )searching\(w\) != 0 \|\| \(w & kPaused\) != 0(?=\) return;)', 'true'),
    ('group/roster.cpp', 'look', r'gate_->lower\(Gate::kEmpty\);', ''),
    ('group/roster.cpp', 'look', r'if \(active == 1\) gate_->raise\(Gate::kEmpty\);', ''),
    ('group/roster.cpp', 'look', r'gate_->raise\(Gate::kEmpty\);', ''),
    ('group/roster.cpp', 'look', r'if \(woken != Woken::kMaybe\) bed\.park\(\);', ''),
    ('group/roster.cpp', 'look', r'if \(closing_\) return false;', ''),
    ('group/roster.cpp', 'look', r'closing_ \|\| ', ''),
    ('group/roster.cpp', 'look', r'if \(closing_ && active == 1\) return [^;]*;', ''),
    ('group/sleep.cpp', 'look', r'idle_since_ = 0;', ''),
    ('group/sleep.cpp', 'look', r' \|\| group_\.closed\(\)', ''),
    ('group/sleep.cpp', 'look', r' \|\| group_\.gate\.paused\(\)', ''),
    ('group/roster.cpp', 'look', r'closing_ = true;', ''),
    ('group/roster.cpp', 'look', r'if \(n == 0\) return false;', ''),
    ('group/roster.cpp', 'look', r'wanted_ == leaving_', 'true'),
    ('group/roster.cpp', 'look', r'if \(wanted_ != 0\)', 'if (false)'),
    ('group/stuck.cpp', 'look', r'if \(!g\.gate\.all_busy\(\)\) \{', 'if (true) {'),
    ('group/stuck.cpp', 'look', r'owed_\.exchange\(false, memory_order_relaxed\);', ''),
    ('group/stuck.cpp', 'wake', r'if \(refused\) retry_at_ = after\(kRetry\);', ''),
    ('group/stuck.cpp', 'wake', r'!g\.closed\(\) && !g\.fill_up\(\)', 'false'),
    ('group/stuck.cpp', 'look', r'listed_\.store\(true, memory_order_relaxed\);', ''),
    ('group/worker.cpp', 'look', r'publish\(searching, Next::kRest\);', 'if (searching) gate.stop_searching();'),
    ('group/worker.cpp', 'look', r'publish\(searching, Next::kRest\);', 'publish(searching);'),
    ('group/worker.cpp', 'look', r' && !group_\.closed\(\)', ''),
    ('group/worker.cpp', 'look', r' \|\| seen\.forks\.load\(memory_order_relaxed\)', ''),
    ('group/worker.cpp', 'look', r'bool found = run_batch\(\);', 'bool found = batch_.has_rest() && run_batch();'),
    ('group/sleep.cpp', 'look', r'if \(next == Next::kRest\) return rest;', ''),
    ('group/forks.cpp', 'wake', r'const Blocking declared;', ''),
    ('group/worker.cpp', 'look', r'batch_\.has_rest\(\) \|\| (?=!kept)', ''),
    ('group/worker.cpp', 'look', r'(?<=        )settle\(\);', ''),
    ('group/worker.cpp', 'look', r'group_\.roster\.unblock\(\);', ';'),
    ('group/group.h', 'look', r'if \(Gate::parked\(word\) != 0\) return;', ''),
    ('group/group.h', 'look', r'if \(options_\.kind == Kind::kStealing\) divert_forks\(\);', ''),
    ('group/group.cpp', 'look', r'if \(closed\(\)\) go_on\(\);', ''),
    ('group/group.cpp', 'look', r'if \(closed\(\)\) go_on\(\);', 'if (closed()) gate.lower(Gate::kPaused);'),
    ('group/group.cpp', 'look', r' && !roster\.turns_back\(\)', ''),
    ('group/group.cpp', 'look', r'thread_yield\(\);(?=\n    }\n    return true;)', 'return true;'),
    ('group/closing.cpp', 'look', r'gate\.lower\(Gate::kPaused\);', ''),
    ('group/closing.cpp', 'look', r'roster\.close\(\*this\);', ''),
    ('group/waitlist.h', 'look', r'!awaited\(\)', 'true'),
    ('group/group.cpp', 'look', r'if \(!changed\.awaited\(\)\) return;', 'return;'),
    ('group/waitlist.h', 'look', r'if \(closed\(\)\) return Got::kClosed;', ''),
    ('group/sleep.cpp', 'look', r'owes_look_ = true;', ''),
    ('group/find.cpp', 'look', r'owes_look_ = true;', ''),
    ('group/sleep.cpp', 'look', r'group_\.timers\.end_watch\(turn, \w+\)', 'void()'),
    ('group/watch.h', 'look', r'covered_\[turn\.seat\]\.store\(UINT64_MAX, memory_order_relaxed\);', ''),
    ('group/timers.cpp', 'look', r's\.closed = true;', ''),
    ('group/submit.cpp', 'look', r'if \(!o->listing\.listed\(\)\) \{', 'if (false) {'),
    ('group/find.cpp', 'look', r'\|\| group_\.all_begun\(\)', '|| true'),
    ('queue/lane.h', 'look', r'pushed_\.store\(final, memory_order_relaxed\);', ''),
    ('queue/lane.h', 'look', r'std::min<uint64_t>\(pushed_\.load\(memory_order_acquire\), final_\)', 'pushed_.load(memory_order_acquire)'),
    ('group/closing.cpp', 'look', r'lane->close\(\);', ''),
    ('queue/batch.h', 'look', r'if \(next != base_\) base_ = base_ \+ 1;', ''),
    ('group/submit.cpp', 'look', r'show_high\(g, in\);', ''),
    ('group/find.cpp', 'look', r'if \(in\.box\.empty\(\)\) (?=group_\.gate\.lower)', ''),
    ('group/find.cpp', 'look', r'uint64_t n = group_\.levels\.queued\(\);', 'uint64_t n = 0;'),
    ('group/find.cpp', 'look', r'group_\.levels\.queued\(\) == 0 && ', ''),
    ('group/sleep.cpp', 'look', r'if \(!others_may_run_it\) return [^;]*;', 'if (!others_may_run_it) return 0u;'),
    ('group/group.h', 'look', r'levels\.each\(f\);', ''),
    ('group/group.cpp', 'look', r'\*closed = gate\.closed\(\);', '*closed = false;'),
]

TYPE = re.compile(r'(?:\b(?:void|bool|auto|uint32_t|uint64_t|size_t|Submit|int|Wake)\s*[&*]?\s*|::)$')


def code_only(text):
    """The text with comments and strings blanked, at the same offsets."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def closing(code, at):
    """The offset behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in '([{') - (code[i] in ')]}')
        if depth == 0:
            return i + 1
    raise ValueError('unbalanced')


def object_begin(code, at):
    """Where the expression begins whose member is named at `at`: a.b[c]->NAME."""
    while True:
        m = re.search(r'(\.|->|::)$', code[:at])
        if m is None:
            return at
        at = m.start()
        while code[at - 1] in ')]}':
            depth, at = 1, at - 1
            while depth:
                at -= 1
                depth += (code[at] in ')]}') - (code[at] in '([{')
        at = re.search(r'\w*$', code[:at]).start()


def mutants_of(name):
    """(kind, begin, end, replacement) for one file."""
    text = (SRC / name).read_text()
    code = code_only(text)
    fences = [(m.start(), closing(code, m.end() - 1)) for m in re.finditer(r'\batomic_thread_fence\s*\(', code)]
    for m in re.finditer(r'\bmemory_order_(acquire|release|acq_rel|seq_cst)\b', code):
        if not any(a <= m.start() < b for a, b in fences):
            for weaker in WEAKER[m.group(1)]:
                yield 'order', m.start(), m.end(), 'memory_order_' + weaker
    for m in re.finditer(r'\b(?:atomic_thread_fence|light_fence|heavy_fence)\s*\(', code):
        end = code.index(';', closing(code, m.end() - 1)) + 1
        yield 'fence', m.start(), end, ';'
    for m in re.finditer(r'\bLocked \w+\([^;]*\);', code):
        yield 'lock', m.start(), m.end(), ';'
    for kind, calls in CALLS.items():
        for call, instead in calls.items():
            for m in re.finditer(r'\b%s\s*\(' % call, code):
                begin = object_begin(code, m.start())
                if TYPE.search(code[:begin]):  # a declaration
                    continue
                end = closing(code, m.end() - 1)
                other = [i for file, what, i in INSTEAD if file in ('', name) and re.search(what, code[begin:end])]
                yield kind, begin, end, (other + [instead])[0]
    for file, kind, pattern, instead in BY_HAND:
        if file == name:
            found = list(re.finditer(pattern, code))
            if not found:
                sys.exit(f'{name} has no longer: {pattern}\nmutants.py must follow.')
            for m in found:
                yield kind, m.start(), m.end(), instead


class Mutant:
    def __init__(self, name, kind, begin, end, instead):
        text = (SRC / name).read_text()
        self.name, self.kind = name, kind
        self.text = text[:begin] + instead + text[end:]
        self.line = text.count('\n', 0, begin) + 1
        first, last = text.rindex('\n', 0, begin) + 1, text.index('\n', end)
        tail = len(text) - last
        squeeze = lambda s: ' '.join(s.split())
        self.before, self.after = squeeze(text[first:last]), squeeze(self.text[first:len(self.text) - tail])

    def key(self):
        return self.name, self.before, self.after

    def __str__(self):
        return f'{self.name}:{self.line} [{self.kind}]\n  - {self.before}\n  + {self.after}'


def equivalents():
    """(file, line before, line after) -> reason"""
    known, block = {}, []
    for line in (HERE / 'equivalents.txt').read_text().splitlines() + ['']:
        if line.startswith('#'):
            continue
        if line.strip():
            block.append(line.strip())
        elif block:
            name, before, after, *reason = block
            known[name, before[2:], after[2:]] = ' '.join(reason)
            block = []
    return known


def listed(name):
    """A list of meson.build."""
    return re.findall(r"'(\w+)'", re.search(r'^%s = \[(.*?)\]' % name, (HERE / 'meson.build').read_text(), re.M | re.S).group(1))


class Bench:
    """Compiles and runs models. What a mutant does not touch is compiled once, for all of them."""
    def __init__(self, compiler, folder):
        self.folder = pathlib.Path(folder)
        self.common = self.folder / 'common'
        self.flags = compiler + ['-std=c++20', '-O1', '-w', '-DHC_SYNC_MODEL', '-include', self.common / 'model.h']
        self.common.mkdir()
        for f in ('model.h', 'seam.h', 'scheduler.h'):
            shutil.copy2(HERE / f, self.common)
        self.run(self.flags[:-2] + ['-x', 'c++-header', self.common / 'model.h', '-o', self.common / 'model.h.gch'])
        self.core = [f'group/{part}.cpp' for part in listed('core_parts')] + ['core.cpp']
        self.core_models = listed('core_models')
        self.compiled, self.lock = {}, threading.Lock()  # source -> (object, the files it is made of), as a future

    @staticmethod
    def run(command):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout)

    def compile(self, source, sources, to):
        """source: of the core, or of the models. sources: where the core's are looked for."""
        found = [folder / source for folder in [HERE] + sources if (folder / source).exists()][0]
        includes = [x for folder in [HERE / 'stand_in'] + sources + [HERE] for x in ('-I', folder)]
        self.run(self.flags + includes + ['-MMD', '-MF', f'{to}.d', '-c', found, '-o', to])

    def original(self, source):
        """The object of a source as it is, and the files that it is made of."""
        with self.lock:
            mine = source not in self.compiled
            made = self.compiled.setdefault(source, concurrent.futures.Future())
        if mine:
            try:
                to = self.common / (source.replace('/', '_') + '.o')
                self.compile(source, [SRC], to)
                made.set_result((to, pathlib.Path(f'{to}.d').read_text().split()))
            except BaseException as e:
                made.set_exception(e)
        return made.result()

    def judge(self, mutant):
        """What killed it, or None. RuntimeError: it does not compile."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            place = pathlib.Path(folder) / 'src'
            (place / mutant.name).parent.mkdir(parents=True)
            (place / mutant.name).write_text(mutant.text)
            objects = {}

            def object_of(source):
                if source not in objects:
                    made, of = self.original(source)
                    if str(SRC / mutant.name) in of:
                        made = pathlib.Path(folder) / (source.replace('/', '_') + '.o')
                        self.compile(source, [place, SRC], made)
                    objects[source] = made
                return objects[source]

            for model in MODELS[mutant.name]:
                program = pathlib.Path(folder) / model
                # The core's as an archive, which gives way to what a model brings of its own.
                sources = [model + '.cpp', 'runner.cpp']
                archive = []
                if model in self.core_models:
                    archive = [pathlib.Path(folder) / 'core.a']
                    if not archive[0].exists():
                        self.run(['ar', 'qc', archive[0]] + [object_of(s) for s in self.core])
                self.run(self.flags[:1] + [object_of(s) for s in sources] + archive + ['-o', program])
                # Of its own time, for others may be at work here too.
                done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      env={**os.environ, 'HC_MODEL_STOP': '1'},
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (120, 120)))
                if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                    return f'{model}: does not end'
                if done.returncode:
                    out = done.stdout.decode(errors='replace')
                    said = re.search(r'^FAILED (.*?) +\d+ iterations', out, re.M)
                    why = re.search(r'^([A-Z][A-Z /]+)(?: \(.*\))?$', out, re.M)
                    return f'{model}: {said.group(1)} ({why.group(1).lower() if why else "?"})' if said else f'{model}: crash'
        return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--only', metavar='NAME', default='')
    options.add_argument('--quick', action='store_true')
    options.add_argument('--list', action='store_true')
    options.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument('compiler', nargs='*', default=['g++'])
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # Somebody may be at work on the sources: all of this run is about one state of them.
        global SRC
        SRC = shutil.copytree(SRC, pathlib.Path(folder) / 'src')
        return hunt(o, folder)


def hunt(o, folder):
    for file in sorted(SRC.glob('*/*.*')):
        name = str(file.relative_to(SRC))
        if name not in MODELS and name not in NOT_MODELLED and next(mutants_of(name), None) is not None:
            sys.exit(f'{name} has something to weaken, and no model: see MODELS in mutants.py')
    mutants, seen = [], set()
    for name in MODELS:
        if o.only not in name:
            continue
        for m in mutants_of(name):
            if o.quick and (name, m[0]) in seen:
                continue
            seen.add((name, m[0]))
            mutants.append(Mutant(name, *m))
    if o.list:
        print('\n'.join(map(str, mutants)))
        return print(len(mutants), 'mutants')

    known, used, bad, counts = equivalents(), set(), [], {}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        bench = Bench(o.compiler, folder)
        judged = [(m, pool.submit(bench.judge, m)) for m in mutants]
        for m, verdict in judged:
            try:
                killer = verdict.result()
            except RuntimeError as e:
                bad.append(m)
                print(f'{m}\n  DOES NOT COMPILE\n{e}', flush=True)
                continue
            if killer is not None:
                fate, note = 'killed', f'killed by {killer}'
                if m.key() in known:
                    bad.append(m)
                    note += ', BUT equivalents.txt says that nothing can'
            elif m.key() in known:
                fate, note = 'equivalent', f'equivalent: {known[m.key()]}'
            else:
                bad.append(m)
                fate, note = 'survived', 'SURVIVED'
            used.add(m.key())
            counts[fate] = counts.get(fate, 0) + 1
            print(f'{m}\n  {note}', flush=True)
    if not o.only and not o.quick:
        for key in known.keys() - used:
            print('equivalents.txt explains what does not exist:', *key, sep='\n  ')
            bad.append(key)
    print(f'{len(mutants)} mutants:', ', '.join(f'{n} {fate}' for fate, n in sorted(counts.items())))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
