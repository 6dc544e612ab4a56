extension String {
    /// On one line, and without what a terminal would obey: whoever publishes must not be able to paint the screen of
    /// whoever watches.
    package var printable: String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\n", "\r", "\t", "\u{2028}", "\u{2029}": result.append(" ")
            // Direction overrides make text read as something that it is not.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": continue
            default:
                if scalar.properties.generalCategory != .control { result.append(scalar) }
            }
        }
        return String(result)
    }
}
