extension Duration {
    /// The duration in seconds, as the value of an option: `90.0s`.
    var optionText: String { "\(self / .seconds(1))s" }

    /// The duration for a sentence: in milliseconds below ten seconds (`12 ms`), otherwise in seconds (`10.3 s`).
    var sentenceText: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        return abs(milliseconds) < 10_000 ? "\(milliseconds) ms" : "\(Double(milliseconds / 100) / 10) s"
    }

    /// The duration for a table: `<1ms`, `12ms`, `1.5s`. It is rounded to milliseconds; from one second on, to tenths
    /// of a second.
    package var tableText: String {
        let milliseconds = self / .milliseconds(1)
        if milliseconds < 1 { return "<1ms" }
        return milliseconds < 1000
            ? "\(Int(milliseconds.rounded()))ms" : "\((milliseconds / 100).rounded() / 10)s"
    }

    /// The duration in seconds, or in the two largest of days, hours, minutes and seconds: `5s`, `2m 10s`, `3d 4h`.
    package var unitsText: String {
        let seconds = max(0, components.seconds)
        return switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m \(seconds % 60)s"
        case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
        default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
        }
    }
}
