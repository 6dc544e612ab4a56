import Glibc

/// Core dumps of this process: files with its memory, which the system writes when the process crashes.
package enum CoreDumps {
    /// Prevents core dumps, and keeps other processes of this user from reading the memory.
    ///
    /// The files of the process in `/proc` then belong to root: the user cannot read its environment, its descriptors and
    /// its maps, but still its state (`stat`, `statm`).
    /// - Throws: ``SystemError``
    package static func disable() throws(SystemError) {
        // The limit does not apply to a program that receives core dumps through a pipe; the flag does.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { throw SystemError("RLIMIT_CORE") }
        guard let control, control(setDumpable, 0, 0, 0, 0) == 0 else { throw SystemError("PR_SET_DUMPABLE") }
    }

    /// `PR_SET_DUMPABLE`, from <sys/prctl.h>.
    private static let setDumpable: CInt = 4

    private typealias Control =
        @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt

    /// prctl(2), which Swift does not import because it takes any number of arguments.
    private static let control = dlsym(nil, "prctl").map { unsafeBitCast($0, to: Control.self) }
}
