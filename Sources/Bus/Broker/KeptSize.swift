/// Bytes of retained documents and dead letters, as they were at a time.
struct KeptSize {
    /// For so many milliseconds it is good enough: to measure it is to look at all of them.
    static let validity: Int64 = 10_000

    let bytes: Int
    /// Milliseconds since 1970.
    let time: Int64
}
