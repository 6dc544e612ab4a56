import Foundation
import Glibc

/// Core dumps of this process: its memory, which the system writes to a file or gives to a program when the process
/// crashes.
package enum CoreDumps {
    /// Prevents core dumps of this process and of the processes that it starts.
    ///
    /// The files of the process in `/proc` remain those of its user, so that the launcher finds the process by its
    /// environment, unless the system gives core dumps to a socket or the limit cannot be set: then they belong to root.
    /// - Throws: ``SystemError``
    package static func disable() throws(SystemError) {
        // A file of one byte is not written. A program that receives core dumps through a pipe receives them whatever
        // the limit is, even 0. With the limit 1, the kernel does not start the program (fs/coredump.c).
        var one = rlimit(rlim_cur: 1, rlim_max: 1)
        let isLimited = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &one) == 0
        // A socket (a pattern that begins with @, Linux 6.16) receives core dumps whatever the limit is.
        let pattern = FileManager.default.contents(atPath: "/proc/sys/kernel/core_pattern")
        guard !isLimited || pattern?.first == UInt8(ascii: "@") else { return }
        guard let control, control(setDumpable, 0, 0, 0, 0) == 0 else { throw SystemError("PR_SET_DUMPABLE") }
    }

    /// `PR_SET_DUMPABLE`, from <sys/prctl.h>.
    private static let setDumpable: CInt = 4

    private typealias Control =
        @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt

    /// prctl(2), which Swift does not import because it takes any number of arguments.
    private static let control = dlsym(nil, "prctl").map { unsafeBitCast($0, to: Control.self) }
}
