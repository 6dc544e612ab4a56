/// Durations as text: a number and a unit, such as `500ms`, `5s`, `2m`, `1h`, `7d`.
extension Duration {
    private static let units: [(name: String, milliseconds: Int)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Reads one whole number and its unit, as flows and tools write a duration.
    package init?(text: String) {
        let digits = text.prefix { "0"..."9" ~= $0 }
        let unit = Self.units.first { $0.name == text.dropFirst(digits.count) }
        guard let number = Int(digits), let unit else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// Reads a sum of numbers with units, as the compose specification and systemd write it: `1m30s`, `1.5h`, `250us`.
    ///
    /// - Returns: The duration to the microsecond; nil from 366 days on, which only a mistake asks for.
    package init?(sum text: String) {
        var rest = text[...]
        var microseconds = 0.0
        repeat {
            let number = rest.prefix { "0"..."9" ~= $0 || $0 == "." }
            rest = rest[number.endIndex...]
            let name = rest.prefix { !("0"..."9" ~= $0 || $0 == ".") }
            rest = rest[name.endIndex...]
            let unit = Self.units.first { $0.name == name }.map { Double($0.milliseconds) * 1000 }
            guard let number = Double(number), let unit = unit ?? (name == "us" ? 1 : nil) else { return nil }
            microseconds += number * unit
        } while !rest.isEmpty
        guard microseconds < 366 * 86_400e6 else { return nil }
        self = .microseconds(Int64(microseconds.rounded()))
    }

    /// The whole milliseconds.
    package var milliseconds: Int { Int(clamping: attoseconds / 1_000_000_000_000_000) }

    /// The duration in the greatest unit of which it is a whole number; zero is `0s`. `init(text:)` reads it.
    package var text: String {
        let unit = Self.units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.milliseconds) } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    /// The duration as a sum of seconds, milliseconds and microseconds; zero is `0s`. `init(sum:)` reads it.
    package var sumText: String {
        let (seconds, attoseconds) = components
        let microseconds = attoseconds / 1_000_000_000_000
        let parts = [(seconds, "s"), (microseconds / 1000, "ms"), (microseconds % 1000, "us")].filter { $0.0 != 0 }
        return parts.isEmpty ? "0s" : parts.map { "\($0.0)\($0.1)" }.joined()
    }
}
