"""LlamaIndex: a vector index on disk; with `fusion`, its BM25 retriever beside it, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Settings, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters

from contract import Driver, Embeddings, Item, Options, serve


class Remote(BaseEmbedding):
    source: Any

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.source.embed([query], "query")[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.source.embed([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.source.embed(texts)


class LlamaIndex(Driver):
    def open(self, folder: Path, options: Options) -> None:
        Settings.embed_model = Remote(source=Embeddings(options), embed_batch_size=64)
        Settings.llm = MockLLM()
        self.fusion = bool(options.get("fusion"))
        self.fused: Any = None
        self.place = folder / "index"
        if (self.place / "docstore.json").exists():
            context = StorageContext.from_defaults(persist_dir=str(self.place))
            self.index: Any = load_index_from_storage(context)
        else:
            self.index = VectorStoreIndex([])

    def add(self, items: Sequence[Item]) -> None:
        self.index.insert_nodes([
            TextNode(
                id_=one["key"], text=one["text"], metadata={"user": one.get("user") or "all"},
                excluded_embed_metadata_keys=["user"], excluded_llm_metadata_keys=["user"],
            )
            for one in items
        ])  # fmt: skip
        self.index.storage_context.persist(str(self.place))
        self.fused = None

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        told = {"filters": MetadataFilters(filters=[ExactMatchFilter(key="user", value=user)])} if user else {}
        retriever = self.index.as_retriever(similarity_top_k=limit, **told)
        if self.fusion:
            if self.fused is None:
                from llama_index.retrievers.bm25 import BM25Retriever

                nodes = list(self.index.docstore.docs.values())
                self.fused = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(limit, len(nodes)))
            retriever = QueryFusionRetriever(
                [retriever, self.fused],
                similarity_top_k=limit,
                num_queries=1,
                mode="reciprocal_rerank",  # type: ignore[arg-type, unused-ignore]
                use_async=False,
            )
        return [{"key": one.node.node_id, "text": one.node.text} for one in retriever.retrieve(query)]

    def keys(self) -> list[str]:
        return list(self.index.docstore.docs)

    def delete(self, key: str) -> None:
        self.index.delete_nodes([key], delete_from_docstore=True)
        self.index.storage_context.persist(str(self.place))


serve(LlamaIndex())
