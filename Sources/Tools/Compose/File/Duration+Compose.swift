import Foundation

extension Duration {
    /// Reads a duration of the compose specification, such as `10s`, `1m30s`, `500ms` or `1.5h`.
    package init?(compose text: String) {
        let units: [(suffix: String, seconds: Double)] = [
            ("us", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3600),
        ]
        var rest = Substring(text)
        var total = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest[number.endIndex...]
            let suffix = rest.prefix { $0.isLetter }
            rest = rest[suffix.endIndex...]
            guard let value = Double(number), let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
            total += value * unit.seconds
        }
        // Beyond a year it is a mistake, and far beyond it the conversion would trap.
        guard total.isFinite, total < 366 * 86400 else { return nil }
        self = .microseconds(Int64(total * 1e6))
    }

    /// As a compose file says it, to the microsecond.
    var composeText: String {
        let (seconds, attoseconds) = components
        let microseconds = attoseconds / 1_000_000_000_000
        let parts = [(seconds, "s"), (microseconds / 1000, "ms"), (microseconds % 1000, "us")].filter { $0.0 != 0 }
        return parts.isEmpty ? "0s" : parts.map { "\($0.0)\($0.1)" }.joined()
    }

    /// In seconds, to the millisecond: `1.250`.
    var secondsText: String { String(format: "%.3f", self / .seconds(1)) }
}
