/// Durations as flows write them: `500ms`, `5s`, `10m`, `1h`, `7d`.
extension Duration {
    private static let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]

    /// Reads a whole number and its unit.
    package init?(text: String) {
        let digits = text.prefix { "0"..."9" ~= $0 }
        let unit = Self.units.first { $0.0 == text.dropFirst(digits.count) }
        guard let number = Int(digits), let unit else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.1)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// The whole milliseconds.
    package var milliseconds: Int { Int(clamping: attoseconds / 1_000_000_000_000_000) }

    /// The duration in the greatest unit of which it is a whole number; zero is `0s`.
    package var text: String {
        let unit = Self.units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.1) } ?? ("s", 1000)
        return "\(milliseconds / unit.1)\(unit.0)"
    }
}
