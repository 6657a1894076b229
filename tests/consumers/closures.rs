//! Rust without a crate: hand-written declarations, closures in boxes. Each closure runs once, or comes back once
//! through on_unrun or its drop; either way it is dropped exactly once.
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

#[repr(C)]
struct HcGroup {
    _private: [u8; 0],
}
type HcFn = extern "C" fn(*mut c_void);

#[repr(C)]
struct HcCall {
    f: HcFn,
    arg: *mut c_void,
}

#[repr(C)]
struct HcGroupOptions {
    size: u32,
    flags: u32,
    name: *const c_char,
    min_workers: u32,
    max_workers: u32,
    spare_workers: u32,
    kind: u32,
    keep_alive: u64,
    stuck_after: u64,
    capacity: u64,
    full_policy: u32,
    spin: u32,
    full_timeout: u64,
    stack_size: u64,
    cpus: *const u32,
    cpu_count: u32,
    reserved: u32,
    user: *mut c_void,
    on_thread_start: Option<extern "C" fn(*mut c_void, u32)>,
    on_thread_stop: Option<extern "C" fn(*mut c_void, u32)>,
    on_unrun: Option<extern "C" fn(*mut c_void, HcFn, *mut c_void, i32)>,
}

#[repr(C)]
struct HcTaskOptions {
    size: u32,
    flags: u32,
    f: Option<HcFn>,
    arg: *mut c_void,
    drop: Option<extern "C" fn(*mut c_void, i32)>,
    label: *const c_char,
}

const HC_NEVER: u64 = u64::MAX;
const HC_SHUTDOWN_NOW: u32 = 1;
const HC_ESHUTDOWN: i32 = -1010;

extern "C" {
    fn hc_group_options_init(options: *mut c_void, size: u32);
    fn hc_group_create(out: *mut *mut HcGroup, options: *const HcGroupOptions) -> c_int;
    fn hc_group_drain(g: *mut HcGroup, timeout: u64) -> c_int;
    fn hc_group_shutdown(g: *mut HcGroup, how: u32) -> c_int;
    fn hc_group_destroy(g: *mut HcGroup) -> c_int;
    fn hc_submit(g: *mut HcGroup, f: HcFn, arg: *mut c_void) -> c_int;
    fn hc_submit_batch(g: *mut HcGroup, calls: *const HcCall, n: usize, accepted: *mut usize) -> c_int;
    fn hc_task_options_init(options: *mut c_void, size: u32);
    fn hc_task_submit(g: *mut HcGroup, options: *const HcTaskOptions, out: *mut *mut c_void) -> c_int;
}

type Closure = Box<dyn FnOnce() + Send>;

extern "C" fn run(arg: *mut c_void) {
    let closure = unsafe { Box::from_raw(arg as *mut Closure) };
    // No panic may leave a callback.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| closure())).is_err() {
        std::process::abort();
    }
}

static HANDED_BACK: AtomicUsize = AtomicUsize::new(0);

extern "C" fn hand_back(arg: *mut c_void, why: i32) {
    assert_eq!(why, HC_ESHUTDOWN);
    drop(unsafe { Box::from_raw(arg as *mut Closure) });
    HANDED_BACK.fetch_add(1, SeqCst);
}

extern "C" fn unrun(_user: *mut c_void, f: HcFn, arg: *mut c_void, why: i32) {
    assert!(f as usize == run as usize);
    hand_back(arg, why);
}

fn boxed(closure: Closure) -> *mut c_void {
    Box::into_raw(Box::new(closure)) as *mut c_void
}

/// Counts the end of the closure that owns it.
struct Token(Arc<AtomicUsize>);
impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn counted(ran: &Arc<AtomicUsize>, dropped: &Arc<AtomicUsize>) -> *mut c_void {
    let (ran, token) = (ran.clone(), Token(dropped.clone()));
    boxed(Box::new(move || {
        let _owned = &token;
        ran.fetch_add(1, SeqCst);
    }))
}

fn main() {
    const N: usize = 1000;
    let ran = Arc::new(AtomicUsize::new(0));
    let dropped = Arc::new(AtomicUsize::new(0));
    unsafe {
        let mut options = std::mem::MaybeUninit::<HcGroupOptions>::uninit();
        hc_group_options_init(options.as_mut_ptr() as *mut c_void, std::mem::size_of::<HcGroupOptions>() as u32);
        let mut options = options.assume_init();
        options.max_workers = 1;
        options.on_unrun = Some(unrun);
        let mut g: *mut HcGroup = null_mut();
        assert_eq!(hc_group_create(&mut g, &options), 0);

        let batch = || (0..N).map(|_| HcCall { f: run, arg: counted(&ran, &dropped) }).collect::<Vec<_>>();
        let mut accepted = 0usize;
        assert_eq!(hc_submit_batch(g, batch().as_ptr(), N, &mut accepted), 0);
        assert_eq!(accepted, N);
        assert_eq!(hc_group_drain(g, HC_NEVER), 0);
        assert_eq!((ran.load(SeqCst), dropped.load(SeqCst)), (N, N));

        // The worker is held; what is queued behind comes back.
        static INSIDE: AtomicBool = AtomicBool::new(false);
        static LEAVE: AtomicBool = AtomicBool::new(false);
        let holder = boxed(Box::new(|| {
            INSIDE.store(true, SeqCst);
            while !LEAVE.load(SeqCst) {
                std::thread::yield_now();
            }
        }));
        assert_eq!(hc_submit(g, run, holder), 0);
        while !INSIDE.load(SeqCst) {
            std::thread::yield_now();
        }
        assert_eq!(hc_submit_batch(g, batch().as_ptr(), N, &mut accepted), 0);
        let mut task = std::mem::MaybeUninit::<HcTaskOptions>::uninit();
        hc_task_options_init(task.as_mut_ptr() as *mut c_void, std::mem::size_of::<HcTaskOptions>() as u32);
        let mut task = task.assume_init();
        task.f = Some(run);
        task.drop = Some(hand_back);
        task.label = null();
        for _ in 0..N {
            task.arg = counted(&ran, &dropped);
            assert_eq!(hc_task_submit(g, &task, null_mut()), 0);
        }
        assert_eq!(hc_group_shutdown(g, HC_SHUTDOWN_NOW), 0);

        // Refused: it is still ours, and ours to drop.
        let late = counted(&ran, &dropped);
        assert_eq!(hc_submit(g, run, late), HC_ESHUTDOWN);
        drop(Box::from_raw(late as *mut Closure));

        LEAVE.store(true, SeqCst);
        assert_eq!(hc_group_destroy(g), 0);
    }
    assert_eq!(ran.load(SeqCst), N);
    assert_eq!(HANDED_BACK.load(SeqCst), 2 * N);
    assert_eq!(dropped.load(SeqCst), 3 * N + 1);
}
