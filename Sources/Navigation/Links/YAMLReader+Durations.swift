internal import Yams

extension YAMLReader {
    /// A whole number with its unit: 500ms, 30s, 10m, 24h or 7d.
    mutating func duration(_ node: Node, _ what: String) -> Duration? {
        if case .scalar(let scalar) = node, let duration = Duration(flowText: scalar.string) { return duration }
        report("\(what) must be a whole number with its unit, such as 500ms, 30s, 10m, 24h or 7d", at: node)
        return nil
    }
}

extension Duration {
    private static let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)]

    fileprivate init?(flowText text: String) {
        let number = text.prefix { ("0"..."9").contains($0) }
        let unit = Self.units.first { $0.0 == text.dropFirst(number.count) }
        // Nine digits of days are more than anyone waits, and still a number that can be added.
        guard let unit, number.count <= 9, let value = Int(number) else { return nil }
        self = .milliseconds(value * unit.1)
    }

    /// The duration as flows write it, in the largest unit of which it is a multiple.
    var flowText: String {
        let milliseconds = wholeMilliseconds
        let unit = Self.units.first { milliseconds.isMultiple(of: $0.1) && milliseconds != 0 } ?? ("s", 1000)
        return "\(milliseconds / unit.1)\(unit.0)"
    }
}
