/// What names, messages and batches may measure, on every bus.
package enum Limits {
    /// Bytes of a subject, a document's key or a durable consumer's name.
    package static let nameLength = 255
    /// Bytes of each other attribute. Only clients check it: a broker does not look inside a header.
    package static let attributeLength = 255
    /// Bytes of the attributes, as JSON.
    package static let headerSize = 64 * 1024
    package static let dataSize = 4 * 1024 * 1024
    /// Messages of one batch, and dead letters that it settles.
    package static let batchCount = 1024
    /// Bytes of header and data of a transient message: a broker has no journal to give a larger one from.
    package static let feedSize = 16 * 1024
}
