import Glibc
import SystemPackage
import SystemSupport

/// Identifies a process even after it has ended, when its number may have been given to another process.
package struct ProcessIdentity: Sendable, Codable, Hashable {
    package let pid: Int32
    /// Clock ticks after boot, from `/proc/PID/stat`.
    let startTime: UInt64
    let bootID: String

    /// Nil if there is no such process.
    init?(of pid: pid_t) {
        guard let entry = ProcessTable.entry(of: pid) else { return nil }
        self.pid = pid
        startTime = entry.startTime
        bootID = ProcessTable.bootID
    }

    /// True if this process still runs. A process that has ended but was not reaped does not run.
    package var isAlive: Bool {
        guard bootID == ProcessTable.bootID, let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.isAlive && entry.startTime == startTime
    }

    /// A handle for this process; nil if it has ended. The process is checked after the handle has been opened, so that
    /// the handle cannot mean another process with the same number.
    func open() -> ProcessHandle? {
        guard let handle = ProcessHandle(opening: pid), isAlive else { return nil }
        return handle
    }
}

/// A handle for a process (a pidfd). While it is open, it means the same process, even if the number is used again.
final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// Nil if there is no such process, or if the kernel is older than 5.3 or glibc older than 2.36.
    init?(opening pid: pid_t) {
        guard let open = Self.openPidfd else { return nil }
        let descriptor = open(pid, 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Returns when the process has ended, reaped or not, or when the task is cancelled.
    func waitForExit() async {
        await DescriptorReadiness.waitForInput(descriptor)
    }

    func send(_ signal: CInt) {
        _ = Self.sendToPidfd?(descriptor, signal, nil, 0)
    }

    // Functions of glibc 2.36 and later that Swift's Glibc module does not import. Swift cannot call syscall(2)
    // instead, because that is variadic.

    private typealias OpenPidfd = @convention(c) (pid_t, CUnsignedInt) -> CInt
    private typealias SendToPidfd = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, CUnsignedInt) -> CInt

    private static let openPidfd = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: OpenPidfd.self) }
    private static let sendToPidfd = dlsym(nil, "pidfd_send_signal").map { unsafeBitCast($0, to: SendToPidfd.self) }
}

/// Reads `/proc`, which describes the processes of this machine.
enum ProcessTable {
    struct Entry: Sendable, Equatable {
        let pid: pid_t
        let state: Character
        let group: pid_t
        let session: pid_t
        /// Clock ticks after boot.
        let startTime: UInt64

        /// False for a zombie: it has ended, but its parent has not reaped it. In a container without an init process,
        /// it may stay so for ever.
        var isAlive: Bool { state != "Z" && state != "X" }
    }

    static func entry(of pid: pid_t) -> Entry? {
        read("/proc/\(pid)/stat").flatMap { parse(String(decoding: $0, as: UTF8.self)) }
    }

    static func entries(ofSession session: pid_t) -> [Entry] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while let item = readdir(directory) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = pid_t(name), getsid(pid) == session, let entry = entry(of: pid) else { continue }
            if entry.session == session { entries.append(entry) }
        }
        return entries
    }

    /// A variable of the environment with which a process was started; nil if it is not set or the process is another
    /// user's.
    static func variable(_ name: String, of pid: pid_t) -> String? {
        let prefix = Array("\(name)=".utf8)
        let variables = read("/proc/\(pid)/environ")?.split(separator: 0)
        return variables?.first { $0.starts(with: prefix) }.map {
            String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
        }
    }

    /// Different after each boot, so that a number and start time of an earlier boot do not match a process of this
    /// one.
    static let bootID: String = {
        let bytes = read("/proc/sys/kernel/random/boot_id") ?? []
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }()

    /// Parses a line of `/proc/PID/stat`. Its fields in proc(5) are: 1 pid, 2 (name), 3 state, 5 group, 6 session, 22
    /// start time. A name can contain blanks and parentheses, so the fields are counted from the last closing
    /// parenthesis.
    static func parse(_ stat: String) -> Entry? {
        guard let end = stat.lastIndex(of: ")"), let pid = pid_t(stat.prefix { $0 != " " }) else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let state = fields[0].first, let group = pid_t(fields[2]),
            let session = pid_t(fields[3]), let startTime = UInt64(fields[19])
        else { return nil }
        return Entry(pid: pid, state: state, group: group, session: session, startTime: startTime)
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return nil }
        return try? file.closeAfter {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = try buffer.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
                bytes += buffer[..<count]
            }
            return bytes
        }
    }
}
