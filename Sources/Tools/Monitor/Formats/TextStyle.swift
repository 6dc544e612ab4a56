/// How text looks in a terminal, by the parameter of "select graphic rendition" (ECMA-48).
package enum TextStyle: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36

    package func applied(to text: some StringProtocol) -> String {
        "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}
