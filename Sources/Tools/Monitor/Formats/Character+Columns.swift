extension Character {
    /// How many columns of a terminal it takes: two for the wide ones of East Asia and for pictures.
    ///
    /// These are the blocks of Unicode's EastAsianWidth.txt that are wide as a whole; wcwidth(3) would need a locale.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
