"""Operations whose operands lie across each other: tiles through shared memory."""
