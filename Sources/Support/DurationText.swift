/// Conversions between durations and strings: a number and a unit, such as `500ms`, `5s`, `2m`, `1h`, `7d`.
extension Duration {
    private static let units: [(name: String, milliseconds: Int)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Reads one whole number and its unit, the form that flows and tools use. Nil for any other string, and for a
    /// number of milliseconds beyond ``SafeIntegers``.
    package init?(text: String) {
        let digits = text.unicodeScalars.prefix(while: \.isASCIIDigit)
        let unit = Self.units.first { $0.name == text[digits.endIndex...] }
        guard let number = Int(String(digits)), let unit else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow, milliseconds <= SafeIntegers.greatest else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// Reads a sum of numbers with units, such as `1m30s`, `1.5h` or `250us`.
    ///
    /// - Returns: The duration, rounded to the microsecond. Nil for any other string, and for 366 days or more.
    package init?(sum text: String) {
        var rest = text[...].unicodeScalars
        var microseconds = 0.0
        func isOfNumber(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCIIDigit || scalar == "." }
        repeat {
            let number = rest.prefix(while: isOfNumber)
            rest = rest[number.endIndex...]
            let name = rest.prefix { !isOfNumber($0) }
            rest = rest[name.endIndex...]
            let unit = Self.units.first { $0.name == String(name) }.map { Double($0.milliseconds) * 1000 }
            guard let number = Double(String(number)), let unit = unit ?? (String(name) == "us" ? 1 : nil) else {
                return nil
            }
            microseconds += number * unit
        } while !rest.isEmpty
        guard microseconds < 366 * 86_400e6 else { return nil }
        self = .microseconds(Int64(microseconds.rounded()))
    }

    /// The duration in milliseconds, limited to ``SafeIntegers``. A fraction of a millisecond is cut off.
    package var milliseconds: Int { Int(SafeIntegers.limit(attoseconds / 1_000_000_000_000_000)) }

    /// The duration, cut off to whole milliseconds, in the largest unit that needs no fraction, such as `90s`; zero is
    /// `0s`. `init(text:)` reads the result unless it is negative.
    package var text: String {
        let unit = Self.units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.milliseconds) } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    /// The duration as a sum of seconds, milliseconds and microseconds; zero is `0s`. `init(sum:)` reads the result
    /// unless it is negative or 366 days or more.
    package var sumText: String {
        let (seconds, attoseconds) = components
        let microseconds = attoseconds / 1_000_000_000_000
        let parts = [(seconds, "s"), (microseconds / 1000, "ms"), (microseconds % 1000, "us")].filter { $0.0 != 0 }
        return parts.isEmpty ? "0s" : parts.map { "\($0.0)\($0.1)" }.joined()
    }
}
