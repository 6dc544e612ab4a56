extension Batch {
    /// Checks all but its messages.
    /// - Throws: ``BusError`` with code `refused` for what no bus takes.
    package func validate() throws(BusError) {
        guard messages.count <= Limits.batchCount, settledLetters.count <= Limits.batchCount else {
            throw BusError(
                .refused, "a batch has at most \(Limits.batchCount) messages, and settles as many dead letters")
        }
        guard rejection == nil || checkpoint != nil else {
            throw BusError(.refused, "a rejection needs the checkpoint of what is rejected")
        }
        guard !isTransient || checkpoint == nil && settledLetters.isEmpty && !isLeased else {
            throw BusError(.refused, "a transient batch has nothing but messages")
        }
    }

    /// Checks the messages, as a broker's client does when it packs them.
    func validateMessages() throws(BusError) {
        do {
            for message in messages {
                try Rules.checkPublishing(message.type, isTransient: isTransient)
                try message.check(isTransient: isTransient)
            }
        } catch {
            throw BusError(error)
        }
    }
}
