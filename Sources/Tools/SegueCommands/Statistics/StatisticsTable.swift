internal import Foundation
internal import Monitor

/// Statistics as a person reads them.
struct StatisticsTable {
    let report: StatisticsReport

    var lines: [String] {
        var lines = types.lines
        if !report.services.isEmpty { lines += [""] + services.lines }
        if report.discarded > 0 { lines += ["", "messages discarded: \(report.discarded)"] }
        return lines
    }

    private var types: Table {
        var table = Table("TYPE", "COUNT", "MSG/S", "BYTES/S", "P50", "P99", "GAPS", "REMOVED", numbersFrom: 1)
        for type in report.types {
            table.append(
                type.type, "\(type.count)", Self.short(type.rate), Self.short(type.bytesPerSecond),
                Self.time(type.p50), Self.time(type.p99), "\(type.recovered)",
                type.removedThrough.map { "to \($0)" } ?? "-")
        }
        return table
    }

    private var services: Table {
        var table = Table("SERVICE", "HANDLED", "FAILED", "LAG", numbersFrom: 1)
        for service in report.services {
            let name = "\(service.service)/\(service.instance)".printable
            table.append(name, "\(service.handled)", "\(service.failed)", "\(service.lag)")
        }
        return table
    }

    /// Four signs or so, as in `12.3k`.
    static func short(_ number: Double) -> String {
        for (unit, sign) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] where number >= unit {
            return oneDigit(number / unit) + sign
        }
        return oneDigit(number)
    }

    /// Times on the bus are in milliseconds: nothing shorter is known.
    static func time(_ milliseconds: Double?) -> String {
        guard let milliseconds else { return "-" }
        if milliseconds < 1 { return "<1ms" }
        return milliseconds < 1000 ? "\(Int(milliseconds.rounded()))ms" : oneDigit(milliseconds / 1000) + "s"
    }

    private static func oneDigit(_ number: Double) -> String {
        "\((number * 10).rounded() / 10)"
    }
}
