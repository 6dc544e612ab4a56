import Glibc
import SystemPackage
import SystemSupport

/// A process that can be recognised later: its number alone may have been given to another one meanwhile.
package struct ProcessIdentity: Sendable, Codable, Hashable {
    package let pid: Int32
    /// Clock ticks after boot, from `/proc/PID/stat`.
    let startTime: UInt64
    let bootID: String

    /// - Returns: `nil` when there is no such process.
    init?(of pid: pid_t) {
        guard let entry = ProcessTable.entry(of: pid) else { return nil }
        self.pid = pid
        startTime = entry.startTime
        bootID = ProcessTable.bootID
    }

    /// Whether this very process runs; one that has ended and was not reaped does not.
    package var isAlive: Bool {
        guard bootID == ProcessTable.bootID, let entry = ProcessTable.entry(of: pid) else { return false }
        return entry.isAlive && entry.startTime == startTime
    }

    /// A handle on this very process: the number is checked again once the handle is open.
    func open() -> ProcessHandle? {
        guard let handle = ProcessHandle(opening: pid), isAlive else { return nil }
        return handle
    }
}

/// A process by pidfd, which means the same process for as long as it is open, whatever becomes of its number.
final class ProcessHandle: Sendable {
    private let descriptor: CInt

    /// - Returns: `nil` when there is no such process (or, on a kernel before 5.3, no such call).
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

    // What glibc offers (2.36 and later) but Swift's Glibc module does not import; syscall(2) is variadic and so no way in.

    private typealias OpenPidfd = @convention(c) (pid_t, CUnsignedInt) -> CInt
    private typealias SendToPidfd = @convention(c) (CInt, CInt, UnsafeMutableRawPointer?, CUnsignedInt) -> CInt

    private static let openPidfd = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: OpenPidfd.self) }
    private static let sendToPidfd = dlsym(nil, "pidfd_send_signal").map { unsafeBitCast($0, to: SendToPidfd.self) }
}

/// What `/proc` tells about the processes of this machine.
enum ProcessTable {
    struct Entry: Sendable, Equatable {
        let pid: pid_t
        let state: Character
        let group: pid_t
        let session: pid_t
        /// Clock ticks after boot.
        let startTime: UInt64

        /// A zombie has ended; only its parent has not asked yet. In a container without an init nobody ever may.
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

    /// One variable of the environment a process was started with; `nil` when it has none or is another user's.
    static func variable(_ name: String, of pid: pid_t) -> String? {
        let prefix = Array("\(name)=".utf8)
        let variables = read("/proc/\(pid)/environ")?.split(separator: 0)
        return variables?.first { $0.starts(with: prefix) }.map {
            String(decoding: $0.dropFirst(prefix.count), as: UTF8.self)
        }
    }

    /// Differs after every boot, so that a number and start time from before it are not taken for a process of now.
    static let bootID: String = {
        let bytes = read("/proc/sys/kernel/random/boot_id") ?? []
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }()

    /// Fields as proc(5) counts them: 1 pid, 2 (name), 3 state, 5 group, 6 session, 22 start time. A name may itself
    /// hold blanks and parentheses, so the fields are counted from the last closing one.
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
