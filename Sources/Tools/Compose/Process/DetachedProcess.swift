import Glibc
import SystemPackage

/// Starts a process that its caller need not wait for.
enum DetachedProcess {
    /// Starts an executable in a session of its own, without a terminal. Its standard output is discarded, and its
    /// standard error is appended to the file at `logPath`. With glibc 2.34 or later, it inherits no other descriptor
    /// of this process.
    ///
    /// - Parameter input: the content of its standard input.
    /// - Throws: ``ComposeError`` `spawn`.
    static func spawn(
        _ executable: String,
        arguments: [String],
        environment: [String: String],
        input: String,
        logPath: String
    ) throws(ComposeError) -> pid_t {
        let memory = try memoryFile(input, for: executable)
        defer { close(memory) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, memory, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        // check-lines: the child opens the file, in the private folder of the project.
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, logPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        _ = addCloseFrom?(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        let flags = Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | spawnInNewSession
        posix_spawnattr_setflags(&attributes, flags)
        return try spawn(
            executable, arguments: [executable] + arguments, environment: environment, actions: &actions,
            attributes: &attributes)
    }

    private static func spawn(
        _ executable: String,
        arguments: [String],
        environment: [String: String],
        actions: inout posix_spawn_file_actions_t,
        attributes: inout posix_spawnattr_t
    ) throws(ComposeError) -> pid_t {
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, executable, &actions, &attributes, argv, envp)
        guard status == 0 else { throw failure(executable, Errno(rawValue: status)) }
        return pid
    }

    /// A descriptor of a file in memory with a text as its content, at its beginning.
    private static func memoryFile(_ text: String, for executable: String) throws(ComposeError) -> CInt {
        let descriptor = makeMemoryFile?("input", closeMemoryFileOnExec) ?? -1
        guard descriptor >= 0 else { throw failure(executable, Errno(rawValue: errno)) }
        do {
            let file = FileDescriptor(rawValue: descriptor)
            try file.writeAll(text.utf8)
            try file.seek(offset: 0, from: .start)
            return descriptor
        } catch {
            close(descriptor)
            throw failure(executable, error)
        }
    }

    private static func failure(_ executable: String, _ reason: any Error) -> ComposeError {
        ComposeError(code: "spawn", message: "cannot start \(executable): \(reason)")
    }

    // Swift's Glibc module does not import these functions. The first needs glibc 2.34, the second glibc 2.27.

    private typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
    private typealias MakeMemoryFile = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt

    private static let addCloseFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: AddCloseFrom.self)
    }
    private static let makeMemoryFile = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: MakeMemoryFile.self) }

    /// `MFD_CLOEXEC`, from <sys/mman.h> with `_GNU_SOURCE`.
    private static let closeMemoryFileOnExec: CUnsignedInt = 1
    /// `POSIX_SPAWN_SETSID`, from <spawn.h> with `_GNU_SOURCE`.
    private static let spawnInNewSession: Int16 = 0x80
}
