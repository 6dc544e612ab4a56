/// Values in the syntax of unit files (systemd.syntax(7), systemd.service(5)) and environment files (systemd.exec(5)).
package enum SystemdText {
    /// A word of a command line. `%` begins a specifier and `$` a variable, so both are doubled.
    package static func argument(_ text: String) -> String {
        word(text.replacing(scalars: "$", with: "$$"))
    }

    /// A word of a list, in quotes if it needs them.
    package static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { plain.contains($0) }
        return isPlain ? text.replacing(scalars: "%", with: "%%") : "\"\(escaped(text))\""
    }

    /// A path that is the whole value of a setting.
    package static func path(_ text: String) -> String {
        text.replacing(scalars: "%", with: "%%")
    }

    /// A line of an environment file, which has no specifiers and no variables.
    package static func assignment(_ name: String, _ value: String) -> String {
        "\(name)=\"\(value.replacingScalars { "\"\\`$".unicodeScalars.contains($0) ? "\\\($0)" : nil })\""
    }

    /// A time span. Zero is written as 1 ms, because for systemd a timeout of 0 means no timeout (systemd.service(5)).
    package static func timeout(_ duration: Duration) -> String {
        duration == .zero ? "1ms" : duration.sumText
    }

    private static let plain: Set<Unicode.Scalar> = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%$".unicodeScalars)

    private static func escaped(_ text: String) -> String {
        text.replacingScalars { scalar in
            switch scalar {
            case "%": return "%%"
            case "\"": return "\\\""
            case "\\": return "\\\\"
            case "\n": return "\\n"
            case "\t": return "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                return "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
            default: return nil
            }
        }
    }
}
