import Support

/// Writes values in the syntax of unit files (systemd.syntax(7), systemd.service(5)) and environment files
/// (systemd.exec(5)).
enum SystemdText {
    /// A word of a command line. `%` begins a specifier and `$` a variable, so both are doubled.
    static func argument(_ text: String) -> String {
        word(text.replacing("$", with: "$$"))
    }

    /// A word of a list, in quotes if it needs them.
    static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { plain.contains($0) }
        return isPlain ? text.replacing("%", with: "%%") : "\"\(escaped(text))\""
    }

    /// A path that is the whole value of a setting.
    static func path(_ text: String) -> String {
        text.replacing("%", with: "%%")
    }

    /// A line of an environment file, which has no specifiers and no variables.
    static func assignment(_ name: String, _ value: String) -> String {
        var text = ""
        for character in value {
            if "\"\\`$".contains(character) { text.append("\\") }
            text.append(character)
        }
        return "\(name)=\"\(text)\""
    }

    /// A time span. Zero is written as 1 ms, because for systemd a timeout of 0 means no timeout (systemd.service(5)).
    static func timeout(_ duration: Duration) -> String {
        duration == .zero ? "1ms" : duration.sumText
    }

    private static let plain: Set<Unicode.Scalar> = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%$".unicodeScalars)

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": result += "%%"
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
