import Foundation
import Support

extension Duration {
    /// Reads a duration of the compose specification, such as `10s`, `1m30s`, `500ms` or `1.5h`.
    package init?(compose text: String) {
        // The compose specification has no days.
        guard !text.unicodeScalars.contains("d") else { return nil }
        self.init(sum: text)
    }

    /// The duration in seconds with three decimals: `1.250`.
    var secondsText: String { String(format: "%.3f", self / .seconds(1)) }
}
