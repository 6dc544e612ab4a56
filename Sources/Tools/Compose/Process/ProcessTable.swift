import Glibc
import Support
import SystemPackage

/// Reads `/proc`, which describes the processes of this machine.
enum ProcessTable {
    struct Entry: Sendable, Equatable {
        let pid: pid_t
        let state: Character
        let parent: pid_t
        let group: pid_t
        let session: pid_t
        /// Clock ticks after boot.
        let startTime: UInt64
        /// The processor time that it and its reaped children have used, in clock ticks.
        let ticks: UInt64

        /// False for a process that has ended, even if its parent has not reaped it.
        var isAlive: Bool { state != "Z" && state != "X" }

        /// A handle for this process; nil if it has ended.
        func open() -> ProcessHandle? {
            guard let handle = ProcessHandle(opening: pid), isStillAlive else { return nil }
            return handle
        }

        /// True if the process has not ended since the table was read.
        var isStillAlive: Bool {
            ProcessTable.entry(of: pid).map { $0.isAlive && $0.startTime == startTime } ?? false
        }
    }

    static func entry(of pid: pid_t) -> Entry? {
        read("/proc/\(pid)/stat").flatMap { parse(String(decoding: $0, as: UTF8.self)) }
    }

    static func entries(ofSession session: pid_t) -> [Entry] {
        entries { getsid($0) == session }.filter { $0.session == session }
    }

    static func entries(where isWanted: (pid_t) -> Bool = { _ in true }) -> [Entry] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while let item = readdir(directory) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let pid = pid_t(name), isWanted(pid), let entry = entry(of: pid) { entries.append(entry) }
        }
        return entries
    }

    /// A variable of the environment with which a process was started; nil if it is not set or cannot be read.
    static func variable(_ name: String, of pid: pid_t) -> String? {
        let prefix = "\(name)="
        guard let bytes = read("/proc/\(pid)/environ"), !bytes.isEmpty else { return nil }
        return (bytes + [0]).withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
            var offset = 0
            while offset < bytes.count {
                let variable = base + offset
                if strncmp(variable, prefix, prefix.utf8.count) == 0 {
                    return String(cString: variable + prefix.utf8.count)
                }
                offset += strlen(variable) + 1
            }
            return nil
        }
    }

    /// The environment with which a process was started; nil if it cannot be read.
    static func variables(of pid: pid_t) -> [String: String]? {
        read("/proc/\(pid)/environ").map { bytes in
            let pairs = bytes.split(separator: 0).compactMap { variable -> (String, String)? in
                guard let equals = variable.firstIndex(of: UInt8(ascii: "=")) else { return nil }
                return (
                    String(decoding: variable[..<equals], as: UTF8.self),
                    String(decoding: variable[(equals + 1)...], as: UTF8.self)
                )
            }
            return Dictionary(pairs) { first, _ in first }
        }
    }

    /// True if the environment and the command line of a living process are empty, as for a moment while it executes a
    /// new program.
    static func isExecuting(_ entry: Entry) -> Bool {
        // Outside a container, process 2 and its children are threads of the kernel, which have no environment.
        guard entry.pid != 2, entry.parent != 2, let environment = read("/proc/\(entry.pid)/environ"),
            environment.isEmpty, let command = read("/proc/\(entry.pid)/cmdline"), command.isEmpty
        else { return false }
        return entry.isStillAlive
    }

    /// The memory that a process uses, in bytes. Memory that it shares is divided by the number of processes that share
    /// it, if `smaps_rollup` of proc(5) can be read.
    static func memory(of pid: pid_t) -> Int? {
        func text(_ file: String) -> String { String(decoding: read("/proc/\(pid)/\(file)") ?? [], as: UTF8.self) }
        return memory(rollup: text("smaps_rollup")) ?? memory(statm: text("statm"))
    }

    /// - Parameter rollup: The contents of `smaps_rollup`, in which sizes are in KiB.
    static func memory(rollup: String) -> Int? {
        let fields = rollup.lines.first { $0.begins(with: "Pss:") }?.split(scalar: " ")
        return fields.flatMap { $0.count > 1 ? size($0[1], unit: 1024) : nil }
    }

    /// - Parameter statm: The contents of `statm`: numbers of pages, of which the second is the resident ones.
    static func memory(statm: String) -> Int? {
        let fields = statm.split(scalar: " ")
        return fields.count > 1 ? size(fields[1], unit: Int(getpagesize())) : nil
    }

    private static func size(_ text: some StringProtocol, unit: Int) -> Int? {
        Int(count: text).flatMap { $0 <= Int(SafeIntegers.greatest) / unit ? $0 * unit : nil }
    }

    /// An identifier of the current boot. With it, a process id and start time of an earlier boot do not match a
    /// process of the current boot.
    static let bootID: String = {
        let bytes = read("/proc/sys/kernel/random/boot_id") ?? []
        return String(decoding: bytes.firstLine, as: UTF8.self)
    }()

    /// Parses a line of `/proc/PID/stat`. Its fields in proc(5) are: 1 pid, 2 (name), 3 state, 4 parent, 5 group, 6
    /// session, 14 to 17 processor times, 22 start time. A name can contain blanks and parentheses, so the fields are
    /// counted from the last closing parenthesis.
    static func parse(_ stat: String) -> Entry? {
        guard let (_, rest) = stat.cut(atLast: ")"), let pid = stat.cut(at: " ").flatMap({ pid_t($0.before) }) else {
            return nil
        }
        let fields = rest.split(scalar: " ")
        guard fields.count > 19, let state = fields[0].first, let parent = pid_t(fields[1]),
            let group = pid_t(fields[2]),
            let session = pid_t(fields[3]), let startTime = UInt64(fields[19])
        else { return nil }
        let ticks = fields[11...14].compactMap { UInt64(count: $0) }.reduce(0, +)
        return Entry(
            pid: pid, state: state, parent: parent, group: group, session: session, startTime: startTime, ticks: ticks)
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
