extension Character {
    /// The ranges of East Asian characters and emoji that take two columns, approximately as in Unicode Standard Annex
    /// 11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
        0x20000...0x3FFFD,
    ]

    /// The approximate number of terminal columns that the character takes.
    package var columns: Int {
        guard let first = unicodeScalars.first, !isASCII else { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide =
            first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
            || Self.wide.contains { $0.contains(first.value) }
        return isWide ? 2 : 1
    }
}
