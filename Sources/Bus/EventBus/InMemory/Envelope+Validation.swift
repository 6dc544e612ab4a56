extension Envelope {
    /// Checks what every message has to be, also one that is not published.
    /// - Throws: ``BusError`` with code `refused`.
    func validate() throws(BusError) {
        do {
            try check()
        } catch {
            throw BusError(error)
        }
    }

    func check(isTransient: Bool = false) throws(Mistake) {
        try Rules.check(type, subject: subject)
        try Rules.check(attributes)
        try Rules.check(
            type, key: attributes.key ?? "", headerCount: attributes.json.count, dataCount: data.count,
            isTransient: isTransient)
    }
}
