import Glibc
import SystemPackage

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
        /// it may never be reaped.
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

    /// An identifier of the current boot. With it, a process id and start time of an earlier boot do not match a
    /// process of the current boot.
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
