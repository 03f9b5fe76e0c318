// SPDX-License-Identifier: BSD-2-Clause
// same_nn_sequences: tests embeddings, recurrent layers, packed sequences, attention, transformers and the containers
// of modules. The output must be the same with Taper's headers and with PyTorch's headers.
#include "nn_print.h"

namespace
{

using namespace nn_print;
using torch::Tensor;
namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;

Tensor longs(std::vector<int64_t> numbers, std::vector<int64_t> sizes)
{
    return torch::from_blob(numbers.data(), sizes, torch::kLong).clone();
}

void embeddings()
{
    torch::manual_seed(1);
    const Tensor ids = longs({0, 2, 1, 2, 4, 0}, {2, 3}), flat = longs({0, 2, 1, 4}, {4}), starts = longs({0, 3}, {2});
    layer(nn::Embedding(5, 3), true, ids);
    layer(nn::Embedding(nn::EmbeddingOptions(5, 3).padding_idx(-1).max_norm(1.0).norm_type(1)), true, ids);
    layer(nn::Embedding(nn::EmbeddingOptions(5, 2).sparse(true).scale_grad_by_freq(true)), true, ids);
    layer(nn::Embedding::from_pretrained(counted({5, 2})), true, ids);
    layer(nn::Embedding::from_pretrained(counted({5, 2}), nn::EmbeddingFromPretrainedOptions().padding_idx(1)), true,
          ids);
    layer(nn::EmbeddingBag(5, 3), true, ids);
    layer(nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 2).mode(torch::kSum).padding_idx(2)), true, flat, starts);
    layer(nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 2).mode(torch::kMax).max_norm(0.5)), true, ids);
    layer(nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 2).include_last_offset(true)), true, flat, longs({0, 2, 4}, {3}));
    layer(nn::EmbeddingBag::from_pretrained(counted({5, 2}), nn::EmbeddingBagFromPretrainedOptions().mode(torch::kSum)),
          true, ids, Tensor(), counted({2, 3}));
    ATTEMPT(nn::Embedding(nn::EmbeddingOptions(5, 3).padding_idx(5))->weight);
    ATTEMPT(nn::Embedding(nn::EmbeddingOptions(5, 3).padding_idx(-6))->weight);
    ATTEMPT(nn::Embedding(nn::EmbeddingOptions(5, 3)._weight(torch::ones({2, 2})))->weight);
    ATTEMPT(nn::Embedding::from_pretrained(counted({5}))->weight);
    nn::EmbeddingBag bag(5, 3);
    ATTEMPT(bag(flat));
    ATTEMPT(bag(flat, ids));
    ATTEMPT(bag(ids, starts));
    ATTEMPT(bag(flat, longs({1, 2}, {2})));
    ATTEMPT(bag(flat, longs({0, 9}, {2})));
    ATTEMPT(bag(flat, starts, counted({3})));
    ATTEMPT(bag(flat, starts, counted({4})));
    ATTEMPT(bag(ids.view({1, 2, 3})));
}

void recurrent()
{
    torch::manual_seed(2);
    const Tensor x = counted({3, 2, 4}), cell = counted({2, 4}), hidden = counted({1, 2, 3});
    layer(nn::RNN(4, 3), true, x);
    layer(nn::RNN(nn::RNNOptions(4, 3).nonlinearity(torch::kReLU).num_layers(2).bidirectional(true).bias(false)), true,
          x);
    layer(nn::LSTM(4, 3), true, x);
    layer(nn::LSTM(nn::LSTMOptions(4, 3).num_layers(2).batch_first(true).bidirectional(true)), true, x);
    layer(nn::LSTM(nn::LSTMOptions(4, 3).proj_size(2).num_layers(2).dropout(0.5)), false, x);
    layer(nn::GRU(4, 3), true, x);
    layer(nn::GRU(nn::GRUOptions(4, 3).num_layers(2).dropout(0.3).bidirectional(true)), false, x);
    layer(nn::RNNCell(4, 3), true, cell);
    layer(nn::RNNCell(nn::RNNCellOptions(4, 3).bias(false).nonlinearity(torch::kReLU)), true, cell);
    layer(nn::LSTMCell(4, 3), true, cell);
    layer(nn::GRUCell(nn::GRUCellOptions(4, 3).bias(false)), true, cell);
    nn::LSTM lstm(4, 3);
    nn::GRU gru(4, 3);
    ATTEMPT(lstm(x, std::make_tuple(hidden, hidden * 2)));
    ATTEMPT(gru(x, hidden));
    ATTEMPT(nn::LSTMCell(4, 3)(cell, std::make_tuple(hidden[0], hidden[0])));
    ATTEMPT(nn::GRUCell(4, 3)(cell, hidden[0]));
    ATTEMPT(gru(cell));
    ATTEMPT(gru(counted({3, 2, 5})));
    ATTEMPT(gru(x, counted({1, 2, 2})));
    ATTEMPT(lstm(x, std::make_tuple(hidden, counted({2, 2, 3}))));
    ATTEMPT(lstm(x, std::make_tuple(counted({1, 2, 2}), hidden)));
    ATTEMPT(nn::GRUCell(4, 3)(counted({2, 5})));
    ATTEMPT(nn::GRUCell(4, 3)(cell, counted({1, 3})));
    ATTEMPT(nn::LSTMCell(4, 3)(cell, std::make_tuple(hidden[0], counted({2, 2}))));
    ATTEMPT(nn::GRU(nn::GRUOptions(4, 0))->parameters()[0]);
    ATTEMPT(nn::GRU(nn::GRUOptions(4, 2).dropout(2))->parameters()[0]);
    ATTEMPT(nn::LSTM(nn::LSTMOptions(4, 2).proj_size(2))->parameters()[0]);
    std::cout << lstm->all_weights().size() << "\n";
    lstm->to(torch::kDouble);
    ATTEMPT(lstm(x.to(torch::kDouble)));
    const auto copy = std::dynamic_pointer_cast<nn::GRUImpl>(gru->clone());
    show(copy->forward(x));
    nn::AnyModule any(gru);
    show(any.forward<std::tuple<Tensor, Tensor>>(x));
}

void packed()
{
    torch::manual_seed(3);
    const Tensor x = counted({4, 3, 2}), sorted = longs({4, 2, 1}, {3}), mixed = longs({2, 4, 3}, {3});
    const auto print = [](const rnn::PackedSequence &all) {
        show(all.data());
        show(all.batch_sizes());
        show(all.sorted_indices());
        show(all.unsorted_indices());
        show(rnn::pad_packed_sequence(all, true, -7.0, 5));
    };
    const rnn::PackedSequence plain = rnn::pack_padded_sequence(x, sorted);
    const rnn::PackedSequence other = rnn::pack_padded_sequence(x, mixed, false, false);
    print(plain);
    print(other);
    print(rnn::pack_sequence({counted({3, 2}), counted({2, 2}), counted({1, 2})}));
    print(rnn::pack_sequence({counted({1, 2}), counted({3, 2})}, false));
    show(rnn::pad_sequence({counted({1, 2}), counted({3, 2})}, true, 9));
    show(rnn::invert_permutation(longs({2, 0, 1}, {3})));
    std::cout << plain.is_cuda() << plain.is_pinned() << plain.to(torch::kDouble).data().dtype() << "\n";
    nn::LSTM lstm(nn::LSTMOptions(2, 3).bidirectional(true));
    nn::GRU gru(2, 3);
    for (const rnn::PackedSequence &each : {plain, other}) {
        const auto first = lstm->forward_with_packed_input(each);
        show(rnn::pad_packed_sequence(std::get<0>(first)));
        show(std::get<1>(first));
        const auto second = gru->forward_with_packed_input(each, counted({1, 3, 3}));
        show(std::get<0>(second).data());
        show(std::get<1>(second));
    }
    ATTEMPT(rnn::pad_packed_sequence(plain, false, 0, 2));
}

void attention()
{
    torch::manual_seed(4);
    const Tensor q = counted({3, 2, 4}), k = counted({5, 2, 4}) * 0.5, v = counted({5, 2, 4}) - 0.25;
    const Tensor narrow = counted({5, 2, 3}), wide = counted({5, 2, 6});
    layer(nn::MultiheadAttention(4, 2), true, q, q, q);
    layer(nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 2).bias(false).add_zero_attn(true)), true, q, k, k);
    layer(nn::MultiheadAttention(nn::MultiheadAttentionOptions(4, 1).add_bias_kv(true).dropout(0.2)), true, q, k, v);
    nn::MultiheadAttention separate(nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(6));
    show(separate->q_proj_weight);
    show(separate->in_proj_bias);
    std::cout << separate->named_parameters().size() << separate->head_dim << "\n";
    nn::MultiheadAttention masked(nn::MultiheadAttentionOptions(4, 2).add_bias_kv(true).add_zero_attn(true));
    masked->eval();
    const Tensor padding = longs({0, 0, 0, 0, 1, 0, 0, 1, 1, 0}, {2, 5}).to(torch::kBool);
    ATTEMPT(masked(q, k, v, padding));
    ATTEMPT(masked(q, k, v, Tensor(), true, counted({3, 5})));
    ATTEMPT(masked(q, k, v, padding, true, counted({3, 5}), false));
    ATTEMPT(masked(q, k, v, padding, false));
    ATTEMPT(nn::MultiheadAttention(5, 2)->in_proj_bias);
    nn::AnyModule any(masked);
    show(any.forward<std::tuple<Tensor, Tensor>>(q, k, v));
}

void transformers()
{
    torch::manual_seed(5);
    const Tensor src = counted({3, 2, 4}), tgt = counted({2, 2, 4});
    layer(nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(3)), true, src);
    layer(nn::TransformerEncoderLayer(
              nn::TransformerEncoderLayerOptions(4, 1).dim_feedforward(3).dropout(0).activation(torch::kGELU)),
          true, src, nn::Transformer::Impl::generate_square_subsequent_mask(3));
    layer(nn::TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(3)), true, tgt, src);
    nn::TransformerEncoderLayer shared(nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(3));
    layer(nn::TransformerEncoder(nn::TransformerEncoderOptions(shared, 2)), true, src);
    layer(nn::TransformerEncoder(
              nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(3), 1)
                  .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({4}))))),
          true, src);
    layer(nn::TransformerDecoder(
              nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(3), 1)),
          true, tgt, src);
    nn::Transformer whole(nn::TransformerOptions(4, 2, 1, 1).dim_feedforward(3));
    layer(whole, true, src, tgt);
    show(nn::TransformerImpl::generate_square_subsequent_mask(3));
    ATTEMPT(nn::TransformerImpl::generate_square_subsequent_mask(-1));
    ATTEMPT(whole(src, counted({2, 2})));
    ATTEMPT(whole(src, counted({2, 3, 4})));
    ATTEMPT(whole(src, counted({2, 2, 5})));
    show(torch::rand({2})); // shows whether the layers have drawn as many random numbers as PyTorch's
}

void lists()
{
    torch::manual_seed(6);
    const Tensor x = counted({2, 3});
    nn::ModuleList list(nn::Linear(3, 2), nn::ReLU());
    list->push_back(nn::Linear(2, 2));
    list->insert(1, nn::Tanh());
    std::cout << list << list->size() << list->is_empty() << list->ptr(1)->name() << list[0]->name() << "\n";
    nn::ModuleList more;
    more->extend(*list);
    Tensor y = x;
    for (const auto &each : *more) {
        if (each->as<nn::Linear>() != nullptr) {
            y = each->as<nn::Linear>()->forward(y);
        }
    }
    show(y);
    show(more->at<nn::LinearImpl>(0).weight);
    const auto copy = std::dynamic_pointer_cast<nn::ModuleListImpl>(more->clone());
    show(copy->at<nn::LinearImpl>(0).weight);
    ATTEMPT(more->at<nn::LinearImpl>(9).weight);

    torch::OrderedDict<std::string, std::shared_ptr<nn::Module>> named = {{"b", nn::Linear(3, 1).ptr()},
                                                                          {"a", nn::ReLU().ptr()}};
    nn::ModuleDict dict(named);
    dict->update(named);
    std::cout << dict << dict->size() << dict->contains("a") << dict->keys().at(0) << dict["a"]->name() << "\n";
    show(dict->at<nn::LinearImpl>("b").forward(x));
    std::cout << dict->pop("a")->name() << dict->size() << dict->empty() << "\n";
    ATTEMPT((dict->pop("a"), Tensor()));

    nn::ParameterList parameters(torch::ones({2}), torch::zeros({1, 2}));
    parameters->append(x);
    std::cout << parameters << parameters->size() << parameters->is_empty() << "\n";
    show(parameters[2]);
    ATTEMPT(parameters->at(5));
    nn::ParameterDict weights;
    weights->insert("w", x);
    weights->insert("v", torch::ones({1}));
    std::cout << weights << weights->size() << weights->contains("w") << weights->keys().at(1) << "\n";
    show(weights["w"]);
    show(weights->pop("v"));
    ATTEMPT(weights->get("v"));

    nn::Functional doubled([](Tensor input) { return input * 2; });
    nn::Functional pooled(torch::max_pool1d, 2, 1, 0, 1, false);
    std::cout << doubled << doubled->is_serializable() << "\n";
    show(nn::Sequential(doubled, nn::Functional(torch::relu))->forward(x));
    show(pooled(counted({1, 1, 4})));
}

} // namespace

int main()
{
    const torch::NoGradGuard guard;
    embeddings();
    recurrent();
    packed();
    attention();
    transformers();
    lists();
    std::cout << "models\n";
    return 0;
}
