/// Text from outside, divided at the characters that its syntax gives a meaning.
///
/// For Swift, a separator with a combining mark after it is one Character and not the separator, and `;` and U+037E are
/// the same Character. These operations therefore compare Unicode scalars. What else a parser compares, it compares in
/// `unicodeScalars` or `utf8` as well.
extension StringProtocol where SubSequence == Substring {
    /// The parts between separators. The parameters are those of `Collection.split`.
    package func split(
        scalar separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        self[...].unicodeScalars.split(
            separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences
        ).map(Substring.init)
    }

    /// The words between blanks. A blank is white space or the end of a line.
    package var words: [Substring] {
        self[...].unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map(Substring.init)
    }

    /// The text before the first separator and the text after it. Nil if there is no separator.
    @inlinable package func cut(at separator: String) -> (before: Substring, after: Substring)? {
        let (text, bytes) = (self[...], separator.utf8)
        guard let first = bytes.first else { return nil }
        var start = text.startIndex
        while let found = text.utf8[start...].firstIndex(of: first) {
            if text.utf8[found...].starts(with: bytes) {
                return (text[..<found], text[text.utf8.index(found, offsetBy: bytes.count)...])
            }
            start = text.utf8.index(after: found)
        }
        return nil
    }

    /// The text before the last separator and the text after it. Nil if there is no separator.
    package func cut(atLast separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
        unicodeScalars.lastIndex(of: separator).map { (self[..<$0], self[unicodeScalars.index(after: $0)...]) }
    }

    /// The text without the blanks at both ends.
    package var trimmed: Substring { trimming(\.properties.isWhitespace) }

    /// The text without the scalars at both ends that fulfil the condition.
    package func trimming(_ isTrimmed: (Unicode.Scalar) -> Bool) -> Substring {
        var rest = self[...].unicodeScalars.drop(while: isTrimmed)
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return Substring(rest)
    }

    /// True if the text contains only blanks.
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }

    /// True if the text contains these scalars, one after the other.
    @inlinable package func contains(scalars: String) -> Bool { cut(at: scalars) != nil }

    /// True if the text contains one of the scalars of `set`.
    @inlinable package func contains(scalarOf set: String) -> Bool {
        unicodeScalars.contains { set.unicodeScalars.contains($0) }
    }

    /// True if the text begins with these scalars. `hasPrefix` compares Characters.
    @inlinable package func begins(with prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// True if the text ends with these scalars. `hasSuffix` compares Characters.
    @inlinable package func ends(with suffix: some StringProtocol) -> Bool {
        self[...].utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The text after these scalars. Nil if the text does not begin with them.
    @inlinable package func removing(prefix: String) -> Substring? {
        begins(with: prefix) ? self[self[...].utf8.index(startIndex, offsetBy: prefix.utf8.count)...] : nil
    }

    /// The text before these scalars. Nil if the text does not end with them.
    @inlinable package func removing(suffix: String) -> Substring? {
        ends(with: suffix) ? self[..<self[...].utf8.index(endIndex, offsetBy: -suffix.utf8.count)] : nil
    }

    /// The text with `other` in each place of these scalars.
    package func replacing(scalars: String, with other: String) -> String {
        var (result, rest) = ("", self[...])
        while let (before, after) = rest.cut(at: scalars) {
            result += before + other
            rest = after
        }
        return result + rest
    }
}

extension StringProtocol {
    /// The text with another text in the place of each of certain scalars.
    ///
    /// - Parameter replacement: Nil for a scalar that remains.
    package func replacingScalars(_ replacement: (Unicode.Scalar) -> String?) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if let text = replacement(scalar) {
                result.append(contentsOf: text.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension Regex {
    /// The expression, which matches scalars. Otherwise each part of it matches whole Characters.
    package var byScalar: Regex<Output> { matchingSemantics(.unicodeScalar) }
}

extension Unicode.Scalar {
    /// True for an ASCII letter.
    package var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }

    /// True for a digit from 0 to 9.
    package var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
