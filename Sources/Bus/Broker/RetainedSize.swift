/// How much of a journal is kept, as a person writes it: `512MiB`, `1GiB`, or a number of bytes; `0` or `none` for all.
package struct RetainedSize: LosslessStringConvertible, Sendable {
    package let bytes: Int?
    package let description: String

    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("", 1)]

    /// Nil unless it is such a text.
    package init?(_ text: String) {
        description = text
        if text == "0" || text == "none" {
            bytes = nil
            return
        }
        guard let (suffix, factor) = Self.units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(suffix.count)), count > 0,
            case let (size, hasOverflown) = count.multipliedReportingOverflow(by: factor), !hasOverflown
        else { return nil }
        bytes = size
    }
}
