import Glibc

/// What glibc offers (2.36 and later) but Swift's Glibc module does not import; syscall(2) is variadic and so no way in.
enum GNUCalls {
    typealias OpenPidfd = @convention(c) (pid_t, CUnsignedInt) -> CInt
    typealias SendToPidfd = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, CUnsignedInt) -> CInt
    typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

    typealias AcceptWithFlags =
        @convention(c) (
            CInt, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, CInt
        ) -> CInt

    typealias MakeMemoryFile = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt

    static let openPidfd = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: OpenPidfd.self) }
    static let sendToPidfd = dlsym(nil, "pidfd_send_signal").map { unsafeBitCast($0, to: SendToPidfd.self) }
    static let addCloseFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: AddCloseFrom.self)
    }

    static let accept = dlsym(nil, "accept4").map { unsafeBitCast($0, to: AcceptWithFlags.self) }

    static let makeMemoryFile = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: MakeMemoryFile.self) }

    /// `MFD_CLOEXEC`, from <sys/mman.h> with `_GNU_SOURCE`.
    static let closeMemoryFileOnExec: CUnsignedInt = 1
    /// `POSIX_SPAWN_SETSID`, from <spawn.h> with `_GNU_SOURCE`.
    static let spawnInNewSession: Int16 = 0x80
}
