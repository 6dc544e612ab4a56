internal import Foundation
internal import Glibc
internal import Support

/// What a running process has used, from its files in `/proc`.
struct ProcessUse {
    /// The time on processors, in user and kernel mode, in seconds. The kernel counts it in steps of 10 ms.
    let processorTime: Double
    /// The largest resident memory so far, in bytes.
    let peakMemory: Int

    /// - Throws: ``BenchmarkError`` if there is no such process.
    init(of process: pid_t) throws {
        let folder = "/proc/\(process)"
        guard let stat = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)
        else { throw BenchmarkError("process \(process) has ended; see its log above") }
        // The name in the second field may contain spaces; the fields after it are numbered from 3 on (proc(5)).
        let fields = (stat.cut(atLast: ")")?.after ?? "").words
        let peak = status.lines.first { $0.begins(with: "VmHWM:") }?.words
        guard fields.count > 12, let user = Double(fields[11]), let kernel = Double(fields[12]),
            let kibibytes = peak.flatMap({ $0.count > 1 ? Int(count: $0[1]) : nil }),
            case let (bytes, overflows) = kibibytes.multipliedReportingOverflow(by: 1024), !overflows
        else { throw BenchmarkError("the files in \(folder) cannot be read") }
        processorTime = (user + kernel) / Double(sysconf(Int32(_SC_CLK_TCK)))
        peakMemory = bytes
    }
}
