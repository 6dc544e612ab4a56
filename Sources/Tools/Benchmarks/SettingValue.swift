/// A circumstance of a measurement.
package enum SettingValue: Encodable, Hashable, Sendable {
    case count(Int)
    case text(String)

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .count(let count): try container.encode(count)
        case .text(let text): try container.encode(text)
        }
    }
}
